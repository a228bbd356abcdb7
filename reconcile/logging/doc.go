// Package logging sets the levels of single channels of a program's log: levels by name, from off to debug4, filters
// such as "billing:debug,mail:off", and a handler for log/slog.
//
//	filters, err := logging.ParseFilters("billing:debug")
//	logger := slog.New(logging.NewHandler(handler, nil, filters))
//	logger.With(logging.Channel, "billing").Debug("counted") // is logged
//
// # When to use it
//
// Operators have it by their settings log.level and log.filters, and resources by their annotations log-default-level
// and log-filters. Use it in other programs. Where one level is enough, use log/slog alone.
package logging
