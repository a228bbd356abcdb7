// Package rules compares the numbered rules that modules keep with the tests that prove them.
//
// The rules are in files RULES.md at the root of modules, one list item for each rule:
//
//   - **dag 14**: A run stops early when its context ends.
//
// A test proves a rule by its name, or that of a subtest: "dag 14: stops early", which the go command writes as
// dag_14:_stops_early. Several rules are separated by commas and end with a colon or with the name: "dag 14, 15: ...".
// Ranges aren't supported: a test names each rule that it proves. If a file has rules of a topic, each number of that
// topic in the name of a test must be in a file.
//
// Only tests that ran and passed in the last complete run count.
package rules
