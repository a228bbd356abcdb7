// Package logging has single channels of a program log more or less than the rest: levels by name, from off to debug4,
// filters such as "billing:debug,mail:off", and a handler for log/slog that keeps to both.
//
//	filters, err := logging.ParseFilters("billing:debug")
//	logger := slog.New(logging.NewHandler(handler, nil, filters))
//	logger.With(logging.Channel, "billing").Debug("counted") // is logged
//
// # When to use it
//
// An operator has it by its settings log.level and log.filters, and a resource by its annotations log-default-level and
// log-filters. Use it for a program that is neither. Where one level for all will do, log/slog has that itself.
package logging
