// The order of search results. Guides explain a word; the API reference has it on many lines, so its
// entries stand after the guides. Without this, Sphinx lists every function and field first.
var Scorer = {
  score: ([page, , , , score]) => (page.startsWith("api/") ? score - 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
