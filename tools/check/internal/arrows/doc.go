// Package arrows checks that the imports of the repository follow its design: which module may import which, and which
// libraries a module may use or link.
//
// The rules are data, in house.go. A room limits the direct imports of a module. A ban may also forbid what a package
// links, that is what it imports through any number of other packages. Tests have to follow the imports between modules
// and the bans with Tests set, because the imports of tests become requirements of the module, too.
//
// Every finding names the shortest chain of imports and the reason of the rule. A rule about a module that doesn't
// exist is ignored.
package arrows
