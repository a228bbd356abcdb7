// Package snippet holds what the pages of the repository show of files to these files.
//
// A fenced block of a Markdown file that follows a comment line
//
//	<!-- file: examples/hello/main.go#Hello.Setup -->
//
// shows that part of the file, whose path starts at the root of the repository: the declaration of this name with its
// doc comment, of a Go file, or in any file what stands between a line with 'region Hello.Setup' and one with
// 'endregion Hello.Setup' in comments, with the indent that all of it has taken away. Without a # it shows the whole
// file. One empty line between the comment and the block is fine. Tabs stay what they are.
package snippet
