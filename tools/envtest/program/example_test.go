package program_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/envtest/program"
)

// run runs a test as the go command does, once and quietly, and reports whether it passed.
func run(test func(t *testing.T)) bool {
	for name, value := range map[string]string{"test.v": "false", "test.count": "1"} {
		setting := flag.Lookup(name).Value
		before := setting.String()
		defer func() { _ = setting.Set(before) }()
		_ = setting.Set(value)
	}
	var once sync.Once // -cpu 1,2,4 has the tests run for each
	again := func(t *testing.T) { once.Do(func() { test(t) }) }
	return testing.RunTests(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "TestGreeter", F: again}})
}

// Before the tests: program.Main(main), and then m.Run(), or goleak.VerifyTestMain(m).
func ExampleMain() {
	program.Main(greet) // in a process that Start has started it doesn't return
	fmt.Println("this is a process with tests")
	// Output: this is a process with tests
}

// A process lives as long as its test, unless the test ends it.
func ExampleStart() {
	passed := run(func(t *testing.T) {
		greeter := program.Start(t, program.Command("wait"))
		for !strings.Contains(greeter.Output(), "waiting") {
			time.Sleep(time.Millisecond)
		}
		fmt.Println(greeter.Running(), greeter.PID() != os.Getpid())
		fmt.Println("exit code", greeter.Stop(t)) // by SIGTERM
		fmt.Print(greeter.Output())

		victim := program.Start(t, program.Command("wait"))
		victim.Kill()
		victim = program.Start(t, exec.Command("sleep", "60")) // any other program
		victim.Signal(t, syscall.SIGINT)
		fmt.Println("exit code", victim.Wait(t))
	})
	fmt.Println(passed)
	// Output:
	// true true
	// exit code 0
	// waiting
	// stopped
	// exit code -1
	// true
}

// What needs no time is over when Run returns.
func ExampleRun() {
	passed := run(func(t *testing.T) {
		result := program.Run(t, program.Command("hello", "world"))
		fmt.Printf("%q %q %d\n", result.Stdout, result.Stderr, result.Code)
		command := program.Command("variable", "GREETING")
		command.Env = append(os.Environ(), "GREETING=good evening")
		fmt.Println(program.Run(t, command).Output())
	})
	fmt.Println(passed)
	// Output:
	// "hello world\n" "(said to world)\n" 0
	// good evening
	// true
}
