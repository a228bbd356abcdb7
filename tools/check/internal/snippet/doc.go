// Package snippet compares code blocks in the pages of the repository with the files that they show.
//
// A fenced block of a Markdown file that follows a comment line
//
//	<!-- file: examples/hello/main.go#Hello.Setup -->
//
// shows that part of the file. The path starts at the root of the repository. In a Go file the part is the declaration
// of this name with its doc comment. In any file it may be the lines between comments 'region Hello.Setup' and
// 'endregion Hello.Setup', without their common indent. Without a # the block shows the whole file. One empty line
// between the comment and the block is allowed. Tabs are kept.
package snippet
