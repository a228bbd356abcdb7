// Package hygiene holds the checks that a repository is in order: its Go files are formatted, no file is a built
// program, no two tests of a folder have the same name, every go.mod is tidy and agrees with the workspace, and
// generated files are what the generators make today.
//
// Every check returns a text for each problem it finds, not only for the first. It returns an error only if it can't
// run at all. Only [Generate], [Generated] and, if asked, [Format] change files.
package hygiene
