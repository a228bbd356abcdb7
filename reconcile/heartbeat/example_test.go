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

// noon is when the examples happen.
func noon() time.Time { return time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC) }

// once lets a heart beat once into a file, which is then removed.
func once(alive func() error, then func(file string), options ...heartbeat.Option) {
	folder, err := os.MkdirTemp("", "heartbeat")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "beat")
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := heartbeat.Run(ctx, file, alive, append(options, heartbeat.Clock(noon))...); err != nil {
		fmt.Println(err)
	}
	then(file)
}

func well() error { return nil }

func ExampleRun() {
	once(well, func(file string) {
		content, err := os.ReadFile(file)
		fmt.Print(string(content), err)
	})
	// Output: 2030-01-02T12:00:00Z
	// <nil>
}

func ExampleCheck() {
	once(well, func(file string) {
		fmt.Println(heartbeat.Check(file, time.Minute, noon().Add(30*time.Second)))
		err := heartbeat.Check(file, time.Minute, noon().Add(time.Hour))
		fmt.Println(strings.ReplaceAll(err.Error(), file, "FILE"))
	})
	// Output:
	// <nil>
	// heartbeat FILE: the last one is 1h0m0s old, at 2030-01-02T12:00:00Z: no older than 1m0s is asked for
}

func ExamplePeriod() {
	fmt.Println(heartbeat.Run(context.Background(), "beat", well, heartbeat.Period(-time.Second)))
	// Output: heartbeat beat: period -1s: it must be positive
}

func ExampleClock() {
	once(well, func(file string) { fmt.Println(heartbeat.Check(file, 0, noon())) }, heartbeat.Clock(noon))
	// Output: <nil>
}

func ExampleLogger() {
	plain := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "file" {
			return slog.Attr{}
		}
		return a
	}}))
	once(func() error { return errors.New("nothing goes on") }, func(string) {}, heartbeat.Logger(plain))
	// Output: level=ERROR msg="no heartbeat" reason="nothing goes on"
}
