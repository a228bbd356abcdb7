// Package importgraph reads which package imports which, as the go command sees it, and finds the shortest chain of
// imports from one package to another.
//
// Use it for rules about what a package links. It doesn't see imports that a package has only on other operating
// systems.
package importgraph
