// Package kubectl lets tests run the real kubectl, from the devcluster program, in a test's namespace.
//
// Use it to compare a library's result with kubectl's. To read or write objects, use a client.
package kubectl
