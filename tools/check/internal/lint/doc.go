// Package lint runs the programs of tools/lint over the modules of the repository: golangci-lint, whose rules are in
// .golangci.yml at the root, and govulncheck.
package lint
