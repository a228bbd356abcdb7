// Package git asks the git program about a repository and writes objects and references into it.
//
// Only [Dir.Forward] changes the working tree.
package git
