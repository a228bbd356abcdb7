// Package proxy fills a file-system module proxy from a working tree, so that its modules can be used as if they were
// published: `go get` with GOPROXY=file://... needs no tag, no network and no replace line.
//
// [Fill] writes the archives of all released modules, which are the modules with a CHANGELOG.md. [Environ] returns an
// environment in which the go command takes these modules from the proxy, and all other modules from the same source as
// before.
//
// Use it in tests that do what a user does with released modules. Don't use it to build inside of the repository, where
// go.work and replace lines find the modules. The modules are the modules of the git repository of the working tree;
// the git program is needed.
package proxy
