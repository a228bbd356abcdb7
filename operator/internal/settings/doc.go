// Package settings reads the settings of an operator's process: from flags, the environment and a file, in this order
// of precedence, over the defaults of the program.
//
// Each setting has one key. The key watch.workers of guestbook-operator is the flag --watch.workers, the variable
// GUESTBOOK_OPERATOR_WATCH_WORKERS, and watch: {workers: 4} in the file of --config. A text is converted to the type of
// its key, and to no other: 1.10 stays a version. All mistakes are reported at once, each with its place.
package settings
