// Package git asks the git program about a repository and writes objects and references into it.
//
// Nothing here touches the working tree but [Dir.Forward].
package git
