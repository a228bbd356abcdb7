// Package program runs programs during a test: above all the program under test, in a process of its own that can be
// killed. The test binary itself serves as that program.
//
//	func TestMain(m *testing.M) {
//		program.Main(main)
//		os.Exit(m.Run())
//	}
//
//	func TestGreets(t *testing.T) {
//		greeter := program.Start(t, program.Command("greet", "--forever"))
//		...
//		require.Zero(t, greeter.Stop(t), "SIGTERM ends it in good order")
//	}
//
// [Command] returns a command that runs the program with arguments, without another build. Any other command of package
// os/exec works, too. [Start] runs a command until the test ends, and logs its output if the test has failed. [Run]
// runs a command and waits until it has ended by itself. Start and Run end only processes that they have started, and
// wait for their end.
//
// The commands of package operator can be tested without a process: Execute runs them in the process of the test. Use
// this package for tests that need a separate process: for a kill, a signal, an exit code or an environment.
package program
