// Package repotest makes repositories with modules for tests: real git ones, in folders for temporary files.
package repotest
