// Package repository knows the layout of the operkit repository: where its root is, which modules it holds, which of
// them belong to the workspace, and with which environment and build flags the go command has to be run in each.
//
// The list of modules is computed from the tree (every go.mod below the root), never kept by hand.
//
// Use it wherever something is done "in every module". It reads files and asks git and go; it changes nothing.
package repository
