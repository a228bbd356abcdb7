package program_test

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/envtest/program"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	program.Main(greet)
	_ = os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0") // the race detector has processes end a second later
	goleak.VerifyTestMain(m)
}

// greet is a program: its first argument says what it does.
func greet() {
	switch os.Args[1] {
	case "hello":
		fmt.Println("hello " + os.Args[2])
		fmt.Fprintln(os.Stderr, "(said to "+os.Args[2]+")")
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "variable":
		fmt.Print(os.Getenv(os.Args[2]))
	case "exit":
		code, _ := strconv.Atoi(os.Args[2])
		os.Exit(code)
	case "wait":
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		fmt.Println("waiting")
		<-signals
		fmt.Println("stopped")
	case "ignore":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("waiting")
		time.Sleep(time.Hour)
	}
}
