package envtest_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// process makes a command that runs tests of this binary in another process, with $OPERKIT_DEVCLUSTER set to dir.
func process(t *testing.T, dir string, tests ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^("+strings.Join(tests, "|")+")$")
	cmd.Env = append(os.Environ(), devcluster.Variable+"="+dir)
	return cmd
}

// where is what a test says of the cluster it got.
var where = regexp.MustCompile(`cluster=(\S+) namespace=(\S+)`)

func TestProcessesShareTheNamedCluster(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	const processes = 2
	outputs := make([]string, processes)
	var group sync.WaitGroup
	for i := range processes {
		group.Go(func() {
			output, err := process(t, env.Dir, "TestStartsNamespaceTakesPodsAtOnce").CombinedOutput()
			assert.NoError(t, err, "%s", output)
			outputs[i] = string(output)
		})
	}
	group.Wait()
	namespaces := map[string]bool{}
	for _, output := range outputs {
		found := where.FindStringSubmatch(output)
		require.NotNil(t, found, output)
		assert.Equal(t, env.Dir, found[1])
		namespaces[found[2]] = true
	}
	assert.Len(t, namespaces, processes)
}

func TestProcessesInstallTheSameCRDOnce(t *testing.T) {
	t.Parallel()
	var starts int
	for try := range 3 {
		t.Run(strconv.Itoa(try), func(t *testing.T) { starts = startsOfCollector(t) })
		if starts != 3 {
			break
		}
		t.Log("the garbage collector didn't answer the second process within the second that it is given: once more")
	}
	assert.Equal(t, 2, starts, "the first, and one restart for both processes")
}

// startsOfCollector has two processes install a definition at once, and counts how often the controller manager was
// started.
func startsOfCollector(t *testing.T) int {
	t.Helper()
	env := envtest.Start(t, envtest.OwnCluster())
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			output, err := process(t, env.Dir, "TestInstallCRDsOnASharedCluster").CombinedOutput()
			assert.NoError(t, err, "%s", output)
		})
	}
	group.Wait()
	log, err := os.ReadFile(filepath.Join(env.Dir, "logs", devcluster.ControllerManager+".log"))
	require.NoError(t, err)
	return strings.Count(string(log), "Serving securely")
}

func TestProcessWithoutTheVariableStartsACluster(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, cmd *exec.Cmd){
		"that ends with it":        func(t *testing.T, cmd *exec.Cmd) { assert.NoError(t, cmd.Wait()) },
		"and that a kill ends too": func(t *testing.T, cmd *exec.Cmd) { assert.NoError(t, cmd.Process.Kill()); _ = cmd.Wait() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := process(t, "", "TestStartsNamespaceTakesPodsAtOnce")
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			cmd.Stderr = os.Stderr
			require.NoError(t, cmd.Start())
			dir := ""
			lines := bufio.NewScanner(stdout)
			for dir == "" && lines.Scan() {
				if found := where.FindStringSubmatch(lines.Text()); found != nil {
					dir = found[1]
				}
			}
			require.NotEmpty(t, dir)
			cluster, err := devcluster.Open(dir, nil)
			require.NoError(t, err)
			state, err := cluster.State()
			require.NoError(t, err)
			if strings.HasPrefix(name, "that") {
				_, err = io.Copy(io.Discard, stdout)
				require.NoError(t, err)
			}
			end(t, cmd)
			assert.Eventually(t, func() bool { return !exists(filepath.Dir(dir)) }, 15*time.Second, 10*time.Millisecond, "its folder %s goes", dir)
			for _, component := range append(state.Components, devcluster.Component{PID: state.SupervisorPID}) {
				assert.Eventually(t, func() bool { return !exists(filepath.Join("/proc", strconv.Itoa(component.PID))) },
					5*time.Second, 10*time.Millisecond, "process %d %s goes", component.PID, component.Name)
			}
		})
	}
}

func TestProcessThatCanNotGetAClusterFailsEachTest(t *testing.T) {
	t.Parallel()
	output, err := process(t, "/no/such/folder", "TestStartsNamespaceTakesPodsAtOnce", "TestRightsOptionReplacesTheDefault").CombinedOutput()
	require.Error(t, err, "%s", output)
	assert.Equal(t, 2, strings.Count(string(output), "no control plane: OPERKIT_DEVCLUSTER: cluster /no/such/folder: there is none in this folder"), "%s", output)
	assert.Equal(t, 2, strings.Count(string(output), "--- FAIL"), "%s", output)
	assert.NotContains(t, string(output), "SKIP")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
