"""Lets the red marks of a written page jump to their steps.

A written page is a recording that viser's client plays. The client has no function that a script could
call, but a field for the time, next to its slider. The script fills this field as a user would.
"""

from __future__ import annotations

_REACH = 8  # distance from a mark within which a click counts [pixels]

JUMP_SCRIPT = """<script>
document.querySelector('#stiction .stiction-strip').addEventListener('click', (event) => {
  let nearest = null, least = REACH;
  for (const mark of document.querySelectorAll('#stiction .stiction-bad')) {
    const box = mark.getBoundingClientRect();
    const away = Math.max(box.left - event.clientX, event.clientX - box.right);
    if (away < least) [nearest, least] = [mark, away];
  }
  const bar = document.querySelector('.mantine-Slider-root')?.parentElement;
  const field = bar?.querySelector('.mantine-NumberInput-input');
  if (!nearest || !field) return;
  // React hides the property that tells it of a change.
  const property = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
  property.set.call(field, nearest.dataset.jump);
  field.dispatchEvent(new Event('input', { bubbles: true }));
});
</script>""".replace("REACH", str(_REACH))
