// Package config holds the settings of an operator's process, and their defaults.
//
//	operator.New("guestbook-operator", operator.Defaults(func(c *config.Config) { c.Watch.Workers = 4 }))
//
// Each field is a setting with one key: Watch.Workers is watch.workers, which is set by the flag --watch.workers, the
// environment variable GUESTBOOK_OPERATOR_WATCH_WORKERS, or in the file that --config or GUESTBOOK_OPERATOR_CONFIG
// names:
//
//	watch:
//	  workers: 4
//
// # When to use it
//
// Package operator reads the settings for every operator; use this package to change defaults, and to read settings in
// a command or an extension of your own. For the settings of a single custom resource see [reconcile.Session.Config].
//
// [reconcile.Session.Config]: https://pkg.go.dev/github.com/operkit/operkit/reconcile#Session.Config
package config
