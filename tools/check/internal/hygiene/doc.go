// Package hygiene holds the checks that a repository is in order: its Go files are formatted, no file is a built
// program, no two tests of a folder have one name, every go.mod is tidy and agrees with the workspace, and generated
// files are what the generators make today.
//
// Every check gives one text for each problem, all of them and not only the first, and an error only when it could not
// be done at all. None of them changes a file, except [Generate], which is there to do so, and [Format] when asked.
package hygiene
