// Package config holds what can be set of an operator's process, and reads it: from flags, from the environment, from a
// file, in this order of precedence, over what the program was built with.
//
//	settings := config.New("guestbook-operator", func(c *config.Config) { c.Watch.Workers = 4 })
//	command.PersistentFlags().AddFlagSet(settings.Flags())
//	...
//	c, err := settings.Load(os.Environ())
//
// One value has one name: the key watch.workers is the flag --watch.workers, the variable
// GUESTBOOK_OPERATOR_WATCH_WORKERS, and
//
//	watch:
//	  workers: 4
//
// in the file that --config (or GUESTBOOK_OPERATOR_CONFIG) names. Text is converted to the type of the key and to nothing
// else, so 1.10 stays a version. All that is wrong is told at once, each with where it was said (spec: operator 9-17,
// mistakes 3-6). A program adds keys of its own by adding flags before Load.
//
// # When to use it
//
// Package operator uses it for every operator; there is nothing to do but to name keys of your own. It isn't for what one
// custom resource sets, which is [reconcile.Session.Config]'s.
//
// [reconcile.Session.Config]: https://pkg.go.dev/github.com/operkit/operkit/reconcile#Session.Config
package config
