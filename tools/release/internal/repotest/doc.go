// Package repotest creates git repositories with modules for tests, in temporary folders.
package repotest
