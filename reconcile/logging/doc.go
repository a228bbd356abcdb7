// Package logging sets the levels of single channels of a program's log: levels by name, from off to debug4, filters
// such as "billing:debug,mail:off", and a handler for log/slog.
//
//	filters, err := logging.ParseFilters("billing:debug")
//	logger := slog.New(logging.NewHandler(handler, nil, filters))
//	logger.With(logging.Channel, "billing").Debug("counted") // is logged
//
// # When to use it
//
// Use it in programs that aren't operators. Operators already have the settings log.level and log.filters, and for
// single resources the annotations log-default-level and log-filters. If one level is enough, use log/slog alone.
package logging
