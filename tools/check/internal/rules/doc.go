// Package rules compares the numbered rules of the specification that the repository claims to follow with the tests
// that prove them.
//
// The claims are in files named rules.txt at the root of any module, one line for each subject:
//
//	# what the graph and its runner promise
//	dag 1-34, 36
//
// A test proves a rule by its name, or that of a subtest: "dag 14: stops early", which the go command writes as
// dag_14:_stops_early. Several rules are separated by commas and end with a colon or with the name: "dag 14, 15: ...".
// Ranges are not read in the names of tests, so that each rule is named by something that proves it.
//
// Only tests that ran and passed in the last complete run count.
package rules
