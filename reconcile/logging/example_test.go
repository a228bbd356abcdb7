package logging_test

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/operkit/operkit/reconcile/logging"
)

// plain logs without times.
func plain() slog.Handler {
	return slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
}

func ExampleNewHandler() {
	logger := slog.New(logging.NewHandler(plain(), logging.Filters(map[string]slog.Level{"billing": slog.LevelDebug})))
	logger.Debug("counted")
	logger.With(logging.Channel, "billing").Debug("counted")
	// Output: level=DEBUG msg=counted channel=billing
}

func ExampleLevel() {
	slog.New(logging.NewHandler(plain(), logging.Level(logging.Off))).Error("nobody hears it")
	// Output:
}

func ExampleFilters() {
	logger := slog.New(logging.NewHandler(plain(), logging.Filters(map[string]slog.Level{"mail": logging.Off})))
	logger.With(logging.Channel, "mail").Error("nobody hears it")
	logger.Info("heard")
	// Output: level=INFO msg=heard
}

func ExampleParseLevel() {
	fmt.Println(logging.ParseLevel("warning"))
	_, err := logging.ParseLevel("loud")
	fmt.Println(err)
	// Output:
	// WARN <nil>
	// level "loud": use off, error, warning, info, debug, trace, or debug1 to debug4
}

func ExampleParseFilters() {
	filters, err := logging.ParseFilters("billing:debug,mail")
	fmt.Println(filters, err)
	// Output: map[billing:DEBUG] filters "mail": each is CHANNEL:LEVEL, such as billing:debug
}
