// Package kubectl lets tests ask the real kubectl, the one inside of the devcluster program, about a test's namespace.
//
// Use it to hold an answer of a library against the one that people get. To read or write objects take a client.
package kubectl
