// Package bundles is the load of the benchmark: it creates, edits and deletes Bundles and their children, and reports
// when an operator has done its work. It is the same for every operator.
package bundles
