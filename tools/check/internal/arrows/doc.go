// Package arrows checks that the imports of the repository follow its design: which module may import which, and which
// libraries a module may use or link.
//
// The rules are data, in house.go. A row of the table of rooms is about direct imports; a ban may be about what a
// package links, that is what it imports through any number of other packages. Tests are held to the arrows between
// modules and to the bans that say so, since what a test imports becomes a requirement of its module as well.
//
// Every finding names the shortest chain of imports and the reason of the rule. Modules that are not there are no
// findings: a rule waits for its module.
package arrows
