package lifeline

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// role makes this test binary the child of a test.
const role = "LIFELINE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(role) != "" {
		child()
	}
	goleak.VerifyTestMain(m)
}

// child says whether its environment still names the lifeline, and ends with code 3 at its end.
func child() {
	ended := make(chan struct{})
	if err := Follow(func() { close(ended) }); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, named := os.LookupEnv(Environment)
	fmt.Println("following", named)
	<-ended
	os.Exit(3)
}

func start(t *testing.T, prepare func(*exec.Cmd)) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	t.Setenv(role, "1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	prepare(cmd)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return cmd, line
}

func TestChildrenEndWithTheLine(t *testing.T) {
	line, err := New()
	require.NoError(t, err)
	other, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer func() { _ = other.Close() }()
	var children []*exec.Cmd
	for _, row := range []struct {
		reason string
		extra  []*os.File
	}{
		{"first extra file", nil},
		{"after another extra file", []*os.File{other}},
	} {
		cmd, said := start(t, func(cmd *exec.Cmd) {
			cmd.ExtraFiles = row.extra
			line.Attach(cmd)
		})
		assert.Equal(t, "following false\n", said, "%s: the variable is not handed on", row.reason)
		children = append(children, cmd)
	}
	line.Close()
	for _, cmd := range children {
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &exit)
		assert.Equal(t, 3, exit.ExitCode(), "it has seen the end")
	}
}

func TestChildrenEndWithTheSignal(t *testing.T) {
	line, err := New()
	require.NoError(t, err)
	defer line.Close()
	cmd, _ := start(t, line.Attach)
	require.NoError(t, cmd.Process.Signal(Signal))
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	assert.Equal(t, 3, exit.ExitCode(), "it has ended in order, not died of the signal")
}

func TestFollowWithoutALine(t *testing.T) {
	require.NoError(t, Follow(func() { t.Error("the end of a line that is not there") }))
	for _, value := range []string{"x", "2", "-1"} {
		t.Setenv(Environment, value)
		assert.EqualError(t, Follow(func() {}), fmt.Sprintf("lifeline: %s=%q is not a file descriptor", Environment, value))
	}
}
