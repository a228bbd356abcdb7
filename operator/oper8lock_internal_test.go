package operator

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/settings"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oper8Locks are oper8's types of locks that one process holds for all of its resources.
var oper8Locks = map[string]config.Lock{"leader-with-lease": config.LeaseLock, "leader-for-life": config.ForLifeLock}

// unset is a variable that isn't there, or outside of a Pod the file that isn't.
const unset = "<unset>"

// oper8Election is the lock that oper8 takes in an environment; false where it takes none or refuses to start.
func oper8Election(environ map[string]string, pod string) (election, bool) {
	lock, global := oper8Locks[environ["PYTHON_WATCH_MANAGER_LOCK_TYPE"]]
	name := strings.TrimSpace(environ["OPERATOR_NAME"])
	if name == "false" || name == "0" { // its environment is read as Python's values, of which these are nothing
		name = ""
	}
	if name == "" {
		name = strings.TrimSpace(environ["PYTHON_WATCH_MANAGER_LOCK_NAME"])
	}
	namespace, given := environ["PYTHON_WATCH_MANAGER_LOCK_NAMESPACE"]
	if !given {
		namespace = "default"
	}
	if pod != unset {
		namespace = pod
	}
	return election{Lock: lock, Name: name, Namespace: namespace}, global && name != "" && namespace != ""
}

// ourElection is the lock that an operator takes there.
func ourElection(t *testing.T, environ map[string]string, pod string) (election, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "namespace")
	if pod != unset {
		require.NoError(t, os.WriteFile(file, []byte(pod), 0o600))
	}
	var lines []string
	for name, value := range environ {
		lines = append(lines, name+"="+value)
	}
	c, err := settings.New("bakery-operator", settings.Options{Oper8: true, NamespaceFile: file}).Load(lines)
	if err != nil {
		return election{}, err
	}
	return election(c.LeaderElection).complete("bakery-operator", file, slog.New(slog.DiscardHandler))
}

// combinations calls visit with every environment that values of variables make.
func combinations(names []string, values [][]string, visit func(environ map[string]string)) {
	if len(names) == 0 {
		visit(map[string]string{})
		return
	}
	combinations(names[1:], values[1:], func(environ map[string]string) {
		for _, value := range values[0] {
			delete(environ, names[0])
			if value != unset {
				environ[names[0]] = value
			}
			visit(environ)
		}
		delete(environ, names[0])
	})
}

// Two operators that wait for two locks both work: in every environment in which oper8 takes a lock ours is the same
// one.
func TestOneLockWithOper8(t *testing.T) {
	t.Parallel()
	names := []string{
		"PYTHON_WATCH_MANAGER_LOCK_TYPE", "OPERATOR_NAME", "PYTHON_WATCH_MANAGER_LOCK_NAME", "PYTHON_WATCH_MANAGER_LOCK_NAMESPACE", "POD",
	}
	values := [][]string{
		{"leader-with-lease", "leader-for-life", "annotation", "dryrun", unset},
		{unset, "", "bakery", " bakery ", "false", "0"},
		{unset, "", "bread"},
		{unset, "", "elsewhere"},
		{unset, "", "shop"},
	}
	met := 0
	combinations(names, values, func(environ map[string]string) {
		pod, inPod := environ["POD"]
		if !inPod {
			pod = unset
		}
		theirs, locks := oper8Election(environ, pod)
		ours, err := ourElection(t, environ, pod)
		switch lock := environ["PYTHON_WATCH_MANAGER_LOCK_TYPE"]; {
		case locks:
			require.NoError(t, err, "watch 32: %v", environ)
			ours.Duration, ours.RenewDeadline, ours.RetryPeriod = 0, 0, 0
			require.Equal(t, theirs, ours, "watch 32: %v", environ)
			met++
		case lock == "annotation":
			require.NoError(t, err, "watch 35: the name of another lock is no mistake: %v", environ)
			require.Equal(t, config.PerObjectLock, ours.Lock)
		case lock == "dryrun":
			require.NoError(t, err, "watch 36: nor is it without any: %v", environ)
			require.Equal(t, config.NoLock, ours.Lock)
		}
	})
	assert.Equal(t, 2*((2*3+4*1)*(2+3)), met, "locks that oper8 takes")
}

// What is said by the new names holds, wherever the old operator had its lock.
func TestNewNamesOfLocksComeFirst(t *testing.T) {
	t.Parallel()
	old := map[string]string{
		"PYTHON_WATCH_MANAGER_LOCK_TYPE": "leader-with-lease", "OPERATOR_NAME": "bakery", "PYTHON_WATCH_MANAGER_LOCK_NAMESPACE": "elsewhere",
	}
	for _, row := range []struct{ reason, variable, value, pod, want string }{
		{"the name", "BAKERY_OPERATOR_LEADER_ELECTION_NAME", "mine", "shop", "lease shop/mine"},
		{"the namespace, in a Pod", "BAKERY_OPERATOR_LEADER_ELECTION_NAMESPACE", "mine", "shop", "lease mine/bakery"},
		{"the namespace, outside", "BAKERY_OPERATOR_LEADER_ELECTION_NAMESPACE", "mine", unset, "lease mine/bakery"},
		{"the kind", "BAKERY_OPERATOR_LEADER_ELECTION_LOCK", "for-life", "shop", "for-life shop/bakery"},
		{"none, which needs no name", "BAKERY_OPERATOR_LEADER_ELECTION_LOCK", "none", "shop", "none shop/bakery-operator"},
	} {
		t.Run("operator 15: "+row.reason, func(t *testing.T) {
			t.Parallel()
			environ := map[string]string{row.variable: row.value}
			for name, value := range old {
				environ[name] = value
			}
			got, err := ourElection(t, environ, row.pod)
			require.NoError(t, err)
			assert.Equal(t, row.want, fmt.Sprintf("%s %s/%s", got.Lock, got.Namespace, got.Name))
		})
	}
}
