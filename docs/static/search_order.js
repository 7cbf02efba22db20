// The order of search results. Guides explain a word; the API reference has it on many lines, so its
// entries stand after the guides. Without this, Sphinx lists every function and field first.

// The page that answers a question, which stands first if the page is found. The first row that fits counts.
const ANSWERS = [
  [/^my |own model|mjcf|schedule|keyframe|stiction_(held|controls)/i, "tutorial/own_model"],
  [/creep|slips?\b|slides? slowly|drift/i, "creep"],
  [/elastic|spring/i, "anchors"],
  [/time ?step|step size|halv|converge/i, "tools/converge"],
  [/adaptive|error control|accuracy/i, "error_control"],
  [/gripper|grasp|\bhold/i, "tools/grasp"],
  [/install|\bpip\b|wheel/i, "installation"],
  [/\bfast|slow|speed|performance|benchmark/i, "performance"],
  [/gymnasium|dm_control/i, "from_gymnasium"],
  [/record|replay/i, "recordings"],
  [/impratio|noslip|mj_step|solref|solimp/i, "from_mujoco"],
  [/^[a-z]+(_[a-z]+)+$/, "options"],  // a name, if it is one of an option
];

function find_answer(query) {
  const row = ANSWERS.find(([pattern]) => pattern.test(query));
  return row && row[1];
}

var Scorer = {
  score: ([page, title, , , score, , kind]) => {
    const query = (new URLSearchParams(window.location.search).get("q") ?? "").trim();
    // The name of a class or a function, as it is written, leads to its entry.
    if (kind === "object" && /[A-Z_]/.test(query) && title.split(".").pop() === query) return 300;
    if (page === find_answer(query)) return 200 + score;
    return page.startsWith("api/") ? score - 100 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
