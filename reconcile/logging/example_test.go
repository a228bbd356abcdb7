package logging_test

import (
	"context"
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
	logger := slog.New(logging.NewHandler(plain(), nil, map[string]slog.Level{"billing": slog.LevelDebug}))
	logger.Debug("counted")
	logger.With(logging.Channel, "billing").Debug("counted")
	// Output: level=DEBUG msg=counted channel=billing
}

func ExampleNewHandler_off() {
	logger := slog.New(logging.NewHandler(plain(), slog.LevelInfo, map[string]slog.Level{"mail": logging.Off}))
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

func ExampleAnnotate() {
	ctx := logging.NewScope(context.Background())
	logging.Annotate(ctx, slog.String("trace", "4bf92f"))
	logging.Scoped(ctx, slog.New(plain())).Info("counted")
	// Output: level=INFO msg=counted trace=4bf92f
}

func ExampleNewScope() {
	all := logging.NewScope(context.Background())
	logging.Annotate(all, slog.String("shop", "tea"))
	part := logging.NewScope(all)
	logging.Annotate(part, slog.Int("shelf", 3))
	logging.Scoped(part, slog.New(plain())).Info("counted")
	logging.Scoped(all, slog.New(plain())).Info("counted")
	// Output:
	// level=INFO msg=counted shop=tea shelf=3
	// level=INFO msg=counted shop=tea
}

func ExampleScoped() {
	logging.Scoped(context.Background(), slog.New(plain())).Info("counted")
	// Output: level=INFO msg=counted
}
