package heartbeat_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/operkit/operkit/reconcile/heartbeat"
)

// once lets a heart beat once into a file, which is then removed.
func once(alive func() error, then func(file string)) { beating(alive, then, nil) }

func beating(alive func() error, then func(file string), logger *slog.Logger) {
	folder, err := os.MkdirTemp("", "heartbeat")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "beat")
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := heartbeat.Run(ctx, file, heartbeat.DefaultPeriod, alive, logger); err != nil {
		fmt.Println(err)
	}
	then(file)
}

func well() error { return nil }

func ExampleRun() {
	once(well, func(file string) {
		content, err := os.ReadFile(file)
		fmt.Println(len(content), err)
	})
	// Output: 21 <nil>
}

func ExampleCheck() {
	once(well, func(file string) {
		fmt.Println(heartbeat.Check(file, time.Minute, time.Now()))
		err := heartbeat.Check(file, time.Minute, time.Now().Add(time.Hour))
		fmt.Println(strings.Contains(err.Error(), "the limit is 1m0s"))
	})
	// Output:
	// <nil>
	// true
}

func ExampleRun_reasons() {
	plain := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "file" {
			return slog.Attr{}
		}
		return a
	}}))
	beating(func() error { return errors.New("nothing goes on") }, func(string) {}, plain)
	// Output: level=ERROR msg="the heartbeat is not written" reason="nothing goes on"
}
