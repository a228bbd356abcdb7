// Package publication makes the released modules of a repository as they are published, one after another in the order
// in which they require each other: what one is published as has to be known to those that require it.
//
// The same code fills a module proxy to try modules with, and prepares the commit that is tagged. What was verified is
// what is tagged, to the last byte.
package publication
