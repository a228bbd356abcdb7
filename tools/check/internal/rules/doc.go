// Package rules compares the numbered rules that modules keep with the tests that prove them.
//
// The rules are in files RULES.md at the root of modules, one list item for each rule:
//
//   - **dag 14**: A run stops early when its context ends.
//
// A test proves a rule by its name, or that of a subtest: "dag 14: stops early", which the go command writes as
// dag_14:_stops_early. Several numbers are separated by commas: "dag 14, 15: ...". After the last one comes a colon, or
// the test's name ends. Ranges aren't supported: a test names each rule that it proves. If any RULES.md has rules of a
// topic, such as dag, then each rule of this topic in a test's name must be in some RULES.md.
//
// Only tests that ran and passed in the last complete run count.
package rules
