package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/operator/config"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOper8Environment(t *testing.T) {
	t.Parallel()
	for variable, row := range map[string]struct{ key, want string }{
		"LOG_LEVEL=debug4":                                 {"log.level", "debug4 2"},
		"LOG_JSON=True":                                    {"log.format", "json 2"},
		"LOG_JSON=false":                                   {"log.format", "text 2"},
		"LOG_FILTERS=BILLING:debug,MAIL:off":               {"log.filters", "BILLING:debug,MAIL:off 2"},
		"STANDALONE=true":                                  {"rollout.concurrency", "0 2"},
		"REQUEUE_AFTER_SECONDS=90":                         {"watch.recheck", "1m30s 2"},
		"RETRY_BACKOFF_BASE_SECONDS=0.01":                  {"retry.first", "10ms 2"},
		"WATCH_NAMESPACE=a, b":                             {"watch.namespaces", "a,b 2"},
		"PYTHON_WATCH_MANAGER_RECONCILE_PERIOD=1hr":        {"watch.period", "1h0m0s 2"},
		"PYTHON_WATCH_MANAGER_LOCK_TYPE=leader-with-lease": {"leader-election.lock", "lease 2"},
		"PYTHON_WATCH_MANAGER_LOCK_TYPE=leader-for-life":   {"leader-election.lock", "for-life 2"},
		"PYTHON_WATCH_MANAGER_LOCK_TYPE=annotation":        {"leader-election.lock", "per-object 2"},
		"PYTHON_WATCH_MANAGER_LOCK_TYPE=dryrun":            {"leader-election.lock", "none 2"},
		"PYTHON_WATCH_MANAGER_MAX_CONCURRENT_RECONCILES=4": {"watch.workers", "4 2"},
	} {
		s, _, err := load(t, said{environ: []string{variable}, old: true})
		require.NoError(t, err, variable)
		assert.Equal(t, row.want, of(t, s, row.key), variable)
		name, _, _ := strings.Cut(variable, "=")
		require.Len(t, s.Warnings(), 1, variable)
		assert.Contains(t, s.Warnings()[0], name+" is an old name: set SHOP_OPERATOR_")

		s, _, err = load(t, said{environ: []string{variable}})
		require.NoError(t, err, variable)
		assert.False(t, s.Given(row.key), "operator mistake 6: only when asked for: %s", variable)
		assert.Empty(t, s.Warnings())
	}
	s, _, err := load(t, said{environ: []string{"LOG_LEVEL=debug", "SHOP_OPERATOR_LOG_LEVEL=error"}, old: true})
	require.NoError(t, err)
	assert.Equal(t, "error 2", of(t, s, "log.level"), "the new name comes first")
	s, _, err = load(t, said{environ: []string{"LOG_LEVEL=debug"}, file: "log: {level: error}", old: true})
	require.NoError(t, err)
	assert.Equal(t, "debug 2", of(t, s, "log.level"), "the environment is the environment")
	s, _, err = load(t, said{environ: []string{"STANDALONE=false"}, change: func(c *config.Config) { c.Rollout.Concurrency = 2 }, old: true})
	require.NoError(t, err)
	assert.Equal(t, "2 0", of(t, s, "rollout.concurrency"), "that says nothing")
	s, _, err = load(t, said{environ: []string{"DRY_RUN=true"}, old: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"DRY_RUN has no meaning here: use the command render, or run --dry-run"}, s.Warnings())
	for variable, want := range map[string]string{
		"LOG_JSON=maybe": "use true or false", "REQUEUE_AFTER_SECONDS=soon": "not a number of seconds",
		"PYTHON_WATCH_MANAGER_LOCK_TYPE=none": "use leader-with-lease",
	} {
		_, _, err := load(t, said{environ: []string{variable}, old: true})
		require.ErrorContains(t, err, want)
	}
}

// operator 9-13: each of oper8's keys has a counterpart, or there is a reason. pod_name is read where it is of use, by
// package leader.
func TestEveryKeyOfOper8(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "..", "config", "README.md"))
	require.NoError(t, err)
	for _, key := range strings.Fields(`log_level log_filters log_json log_thread_id dry_run working_dir dump_disabled standalone
		strict_versioning supported_versions strict_version_kind_regex manage_status internal_name_annotation
		include_dependency_graph_in_status controller_name deploy_retries deploy_unprocessable_put_fallback
		cluster_passthrough_annotations retry_backoff_base_seconds requeue_after_seconds watch_namespace watch_manager
		operator_name operator_version rollout_manager.deploy_threads rollout_manager.verify_threads
		python_watch_manager.max_concurrent_reconciles python_watch_manager.reconcile_period python_watch_manager.process_context
		python_watch_manager.watch_dependent_resources python_watch_manager.subsystem_rollout python_watch_manager.heartbeat_file
		python_watch_manager.heartbeat_period python_watch_manager.watch_retry_count python_watch_manager.watch_retry_delay
		python_watch_manager.filter python_watch_manager.lock.type python_watch_manager.lock.name
		python_watch_manager.lock.namespace python_watch_manager.lock.duration python_watch_manager.lock.poll_time
		ansible_watch_manager.log_file_dir ansible_watch_manager.kill_max_wait ansible_watch_manager.ansible_base_path
		ansible_watch_manager.ansible_entrypoint ansible_watch_manager.ansible_args ansible_watch_manager.manage_status
		ansible_watch_manager.watch_dependent_resources ansible_watch_manager.reconcile_period ansible_watch_manager.playbook_parameters
		vcs.enabled vcs.kind_regex vcs.repo vcs.dest vcs.module_dir vcs.field vcs.version_override vcs.checkout_method`) {
		t.Run("operator 9, 10, 11, 12, 13: "+key, func(t *testing.T) {
			t.Parallel()
			one, has := counterparts[variable(key)]
			_, dropped := without[variable(key)]
			assert.True(t, has != dropped)
			assert.Contains(t, string(readme), "| `"+variable(key)+"` |")
			if has && one.of == "" {
				assert.Contains(t, New("a", Options{}).Keys(), one.key)
			}
			if has && one.of != "" {
				assert.NotContains(t, New("a", Options{}).Keys(), one.key, "an operator of package "+one.of+" has it")
			}
		})
	}
}

// What an operator of another package has is a warning that says which, and the value counts where it is.
func TestKeysOfOtherPackages(t *testing.T) {
	t.Parallel()
	s := New("a", Options{Oper8: true})
	_, err := s.Load([]string{"VCS_REPO=/versions"})
	require.NoError(t, err)
	assert.Equal(t, []string{"VCS_REPO has no meaning here: only operators of package operator/full have the setting vcs.repository"}, s.Warnings())

	s = New("a", Options{Oper8: true})
	repository := s.Flags().String("vcs.repository", "", "")
	_, err = s.Load([]string{"VCS_REPO=/versions"})
	require.NoError(t, err)
	assert.Equal(t, "/versions", *repository)
	assert.Equal(t, []string{"VCS_REPO is an old name: set A_VCS_REPOSITORY=/versions instead"}, s.Warnings())
}

// The lock is the one that oper8 takes, and a warning says which variable isn't read, or by what name it is from now
// on.
func TestLockOfOper8(t *testing.T) {
	t.Parallel()
	pod := filepath.Join(t.TempDir(), "namespace")
	require.NoError(t, os.WriteFile(pod, []byte("shop"), 0o600))
	const lease, life = "PYTHON_WATCH_MANAGER_LOCK_TYPE=leader-with-lease", "PYTHON_WATCH_MANAGER_LOCK_TYPE=leader-for-life"
	const file = "leader-election: {name: filed, namespace: filed}"
	for _, row := range []struct {
		reason, file    string
		inPod           bool
		environ         []string
		name, namespace string
		warning         string
	}{
		{"OPERATOR_NAME is first", "", true, []string{lease, "OPERATOR_NAME=a", "PYTHON_WATCH_MANAGER_LOCK_NAME=b"}, "a", "",
			"OPERATOR_NAME is an old name: set A_LEADER_ELECTION_NAME=a instead"},
		{"what is false is no name", "", true, []string{lease, "OPERATOR_NAME=False", "PYTHON_WATCH_MANAGER_LOCK_NAME=b"}, "b", "",
			"PYTHON_WATCH_MANAGER_LOCK_NAME is an old name: set A_LEADER_ELECTION_NAME=b instead"},
		{"the namespace in a Pod is the Pod's", "", true, []string{lease, "PYTHON_WATCH_MANAGER_LOCK_NAMESPACE=ns"}, "", "",
			"PYTHON_WATCH_MANAGER_LOCK_NAMESPACE has no effect in a Pod, where the lock is in the namespace of the Pod, as in oper8: set A_LEADER_ELECTION_NAMESPACE=ns to override that"},
		{"elsewhere it counts", "", false, []string{lease, "PYTHON_WATCH_MANAGER_LOCK_NAMESPACE=ns"}, "", "ns",
			"PYTHON_WATCH_MANAGER_LOCK_NAMESPACE is an old name: set A_LEADER_ELECTION_NAMESPACE=ns instead"},
		{"and is default else", "", false, []string{life}, "", "default", ""},
		{"but where the file says one", file, false, []string{life, "OPERATOR_NAME=a"}, "a", "filed", ""},
		{"the environment is over the file", file, false, []string{life, "OPERATOR_NAME=a", "PYTHON_WATCH_MANAGER_LOCK_NAMESPACE=ns"}, "a", "ns", ""},
		{"a lock of ours outside of a Pod has no default", "", false, []string{"A_LEADER_ELECTION_LOCK=lease", lease, "OPERATOR_NAME=a"}, "a", "", ""},
		{"a duration is no mistake where nothing runs out", "", true, []string{life, "PYTHON_WATCH_MANAGER_LOCK_DURATION=30s"}, "", "",
			"PYTHON_WATCH_MANAGER_LOCK_DURATION has no meaning with leader-election.lock for-life"},
		{"nor a name where there is none", "", true, []string{"PYTHON_WATCH_MANAGER_LOCK_TYPE=dryrun", "OPERATOR_NAME=a"}, "", "",
			"OPERATOR_NAME has no meaning with leader-election.lock none"},
	} {
		t.Run("watch 32: "+row.reason, func(t *testing.T) {
			t.Parallel()
			s := New("a", Options{Oper8: true, NamespaceFile: filepath.Join(t.TempDir(), "nowhere")})
			if row.inPod {
				s = New("a", Options{Oper8: true, NamespaceFile: pod})
			}
			if row.file != "" {
				path := filepath.Join(t.TempDir(), "settings.yaml")
				require.NoError(t, os.WriteFile(path, []byte(row.file), 0o600))
				row.environ = append(row.environ, "A_CONFIG="+path)
			}
			c, err := s.Load(row.environ)
			require.NoError(t, err)
			assert.Equal(t, row.name, c.LeaderElection.Name)
			assert.Equal(t, row.namespace, c.LeaderElection.Namespace)
			if row.warning != "" {
				assert.Contains(t, s.Warnings(), row.warning)
			}
		})
	}
}
