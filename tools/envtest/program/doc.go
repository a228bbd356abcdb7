// Package program runs programs for the time of a test: above all the one that is tested, as a process of its own that
// can be killed, for which the test binary itself stands.
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
// [Command] is the program with arguments, without a build of its own; any other command of package os/exec will do as
// well. [Start] has it run until the test ends, and logs what it said when the test has failed; [Run] waits until it
// has ended by itself. Whatever was started is ended and waited for, and nothing else ever is.
//
// Package operator's programs needn't be processes to be tested: their Execute runs a command in the test's own
// process. Take this package for what a process alone has: a kill, a signal, an exit code, an environment.
package program
