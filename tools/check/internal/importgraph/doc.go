// Package importgraph reads which package imports which, as the go command sees it, and finds the shortest chain of
// imports from one package to another.
//
// Use it for whatever is said about what a package links. What is imported on other systems than the one it runs on is
// not seen.
package importgraph
