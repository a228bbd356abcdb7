package settings

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/operkit/operkit/operator/config"
)

// counterpart is the key for a variable of oper8.
type counterpart struct {
	key string
	// translate translates a value. Nil keeps the value.
	translate func(text string) (string, error)
	// of is the package whose operators have the key. Empty means all operators.
	of string
	// outside is set if the variable applies only outside of a Pod.
	outside bool
}

// counterparts are the keys by oper8's names in the environment.
var counterparts = map[string]counterpart{
	"LOG_LEVEL":                          {key: "log.level"},
	"LOG_FILTERS":                        {key: "log.filters"},
	"LOG_JSON":                           {key: "log.format", translate: either("json", "text")},
	"WORKING_DIR":                        {key: "manifests.directory"},
	"DUMP_DISABLED":                      {key: "manifests.disabled"},
	"STANDALONE":                         {key: "rollout.concurrency", translate: either("0", "")},
	"STRICT_VERSIONING":                  {key: "versions.strict"},
	"SUPPORTED_VERSIONS":                 {key: "versions.supported"},
	"MANAGE_STATUS":                      {key: "status.manage"},
	"INTERNAL_NAME_ANNOTATION":           {key: "objects.internal-names"},
	"INCLUDE_DEPENDENCY_GRAPH_IN_STATUS": {key: "status.graph"},
	"REQUEUE_AFTER_SECONDS":              {key: "watch.recheck", translate: seconds},
	"RETRY_BACKOFF_BASE_SECONDS":         {key: "retry.first", translate: seconds},
	"WATCH_NAMESPACE":                    {key: "watch.namespaces"},
	"OPERATOR_VERSION":                   {key: "versions.operator"},
	"VCS_REPO":                           {key: "vcs.repository", of: "operator/full"},
	"VCS_DEST":                           {key: "vcs.destination", of: "operator/full"},
	"VCS_MODULE_DIR":                     {key: "vcs.directory", of: "operator/full"},
	"VCS_CHECKOUT_METHOD":                {key: "vcs.method", of: "operator/full"},
	"VCS_FIELD":                          {key: "versions.field", of: "operator/full"},
	"VCS_VERSION_OVERRIDE":               {key: "versions.override", of: "operator/full"},
	"ROLLOUT_MANAGER_DEPLOY_THREADS":     {key: "rollout.concurrency"},
	"PYTHON_WATCH_MANAGER_MAX_CONCURRENT_RECONCILES": {key: "watch.workers"},
	"PYTHON_WATCH_MANAGER_RECONCILE_PERIOD":          {key: "watch.period"},
	"PYTHON_WATCH_MANAGER_FILTER":                    {key: "watch.filter"},
	"PYTHON_WATCH_MANAGER_HEARTBEAT_FILE":            {key: "heartbeat.file"},
	"PYTHON_WATCH_MANAGER_HEARTBEAT_PERIOD":          {key: "heartbeat.period"},
	"PYTHON_WATCH_MANAGER_LOCK_TYPE":                 {key: "leader-election.lock", translate: lock},
	// Variables are read in the order of their names, so that OPERATOR_NAME comes before the other name of the lock.
	"OPERATOR_NAME":                       {key: "leader-election.name", translate: truthy},
	"PYTHON_WATCH_MANAGER_LOCK_NAME":      {key: "leader-election.name"},
	"PYTHON_WATCH_MANAGER_LOCK_NAMESPACE": {key: "leader-election.namespace", outside: true},
	"PYTHON_WATCH_MANAGER_LOCK_DURATION":  {key: "leader-election.duration"},
}

// without has the variables of oper8 that have no counterpart, each with the reason.
var without = map[string]string{
	"LOG_THREAD_ID":                                   "Go has no thread ids; log lines have the id of their reconcile",
	"DRY_RUN":                                         "use the command render, or run --dry-run",
	"STRICT_VERSION_KIND_REGEX":                       "name the kinds that are exempt in versions.exempt, as patterns such as Temporary*",
	"DEPLOY_RETRIES":                                  "a failed resource is retried as a whole, see retry.first",
	"DEPLOY_UNPROCESSABLE_PUT_FALLBACK":               "the strategy of an object decides whether the object is replaced",
	"CLUSTER_PASSTHROUGH_ANNOTATIONS":                 "objects are applied, which keeps the annotations of other field managers",
	"WATCH_MANAGER":                                   "there is one engine",
	"CONTROLLER_NAME":                                 "the value is a class of oper8: set controllers to names of kinds",
	"PYTHON_WATCH_MANAGER_LOCK_POLL_TIME":             "set leader-election.retry-period instead",
	"ROLLOUT_MANAGER_VERIFY_THREADS":                  "components are deployed and verified in one pass, see rollout.concurrency",
	"PYTHON_WATCH_MANAGER_PROCESS_CONTEXT":            "reconciles don't run in processes of their own",
	"PYTHON_WATCH_MANAGER_WATCH_DEPENDENT_RESOURCES":  "the objects that a resource owns are always watched",
	"PYTHON_WATCH_MANAGER_SUBSYSTEM_ROLLOUT":          "a resource that renders another one waits for it as for any object",
	"PYTHON_WATCH_MANAGER_WATCH_RETRY_COUNT":          "a failed watch is opened again without a limit",
	"PYTHON_WATCH_MANAGER_WATCH_RETRY_DELAY":          "a failed watch is opened again after 250 ms, later every 5 s",
	"ANSIBLE_WATCH_MANAGER_LOG_FILE_DIR":              "the log goes to the standard error",
	"ANSIBLE_WATCH_MANAGER_KILL_MAX_WAIT":             "there is no process to kill: see watch.grace",
	"ANSIBLE_WATCH_MANAGER_ANSIBLE_BASE_PATH":         "there are no playbooks",
	"ANSIBLE_WATCH_MANAGER_ANSIBLE_ENTRYPOINT":        "there is no other process",
	"ANSIBLE_WATCH_MANAGER_ANSIBLE_ARGS":              "there is no other process",
	"ANSIBLE_WATCH_MANAGER_MANAGE_STATUS":             "use status.manage",
	"ANSIBLE_WATCH_MANAGER_WATCH_DEPENDENT_RESOURCES": "the objects that a resource owns are always watched",
	"ANSIBLE_WATCH_MANAGER_RECONCILE_PERIOD":          "use watch.period",
	"ANSIBLE_WATCH_MANAGER_PLAYBOOK_PARAMETERS":       "there are no playbooks",
	"VCS_ENABLED":                                     "set vcs.repository in an operator of package operator/full",
	"VCS_KIND_REGEX":                                  "name the kinds that have no version in versions.exempt, as patterns such as Temporary*",
}

// oldName is a variable of oper8 that has set a key.
type oldName struct{ variable, key, text string }

// readOper8 sets keys by oper8's names, unless a variable with the prefix or a flag sets them.
func (s *Settings) readOper8(environ []string) {
	for _, line := range sorted(environ) {
		name, text, _ := strings.Cut(line, "=")
		one, known := counterparts[name]
		if reason, dropped := without[name]; dropped {
			s.warnings = append(s.warnings, fmt.Sprintf("%s has no meaning here: %s", name, reason))
		}
		if known && s.flags.Lookup(one.key) == nil {
			s.warnings = append(s.warnings, fmt.Sprintf("%s has no meaning here: only operators of package %s have the setting %s", name, one.of, one.key))
			continue
		}
		if text = strings.TrimSpace(text); !known || text == "" || s.origins[one.key].Source >= Environment {
			continue
		}
		s.takeOver(name, one, text)
	}
}

// takeOver sets the key of a variable of oper8.
func (s *Settings) takeOver(name string, one counterpart, text string) {
	if one.outside && s.inPod() {
		s.warnings = append(s.warnings, fmt.Sprintf("%s has no effect in a Pod, where the lock is in the namespace of the Pod, as in oper8: set %s%s=%s to override that",
			name, s.prefix, variable(one.key), text))
		return
	}
	if one.translate != nil {
		translated, err := one.translate(text)
		if err != nil {
			s.refuse(one.key, Origin{Environment, name, 0}, text, err.Error())
			return
		}
		if text = translated; text == "" {
			return
		}
	}
	s.setVariable(one.key, name, text)
	s.oldNames = append(s.oldNames, oldName{name, one.key, text})
}

// oper8Namespace is the default namespace of oper8's lock outside of a Pod.
const oper8Namespace = "default"

// defaultOper8Namespace sets the namespace of a lock outside of a Pod to oper8Namespace, if a variable of oper8 chose
// the lock.
func (s *Settings) defaultOper8Namespace() {
	const lockType, key = "PYTHON_WATCH_MANAGER_LOCK_TYPE", "leader-election.namespace"
	e := s.config.LeaderElection
	locks := s.oldNameOf("leader-election.lock") == lockType && (e.Lock == config.LeaseLock || e.Lock == config.ForLifeLock)
	if locks && !s.Given(key) && e.Namespace == "" && !s.inPod() {
		s.set(key, Origin{Environment, lockType, 0}, oper8Namespace)
	}
}

// inPod reports whether oper8 would find the namespace of its Pod.
func (s *Settings) inPod() bool {
	info, err := os.Stat(s.NamespaceFile)
	return err == nil && info.Mode().IsRegular()
}

// oldNameOf returns the variable of oper8 that sets a key. It returns an empty text if something else sets the key.
func (s *Settings) oldNameOf(key string) string {
	for _, one := range s.oldNames {
		if one.key == key && s.origins[key] == (Origin{Environment, one.variable, 0}) {
			return one.variable
		}
	}
	return ""
}

// warnOfOldNames warns about each variable of oper8 that sets a key. The warnings give the new names.
func (s *Settings) warnOfOldNames() {
	for _, one := range s.oldNames {
		if s.oldNameOf(one.key) == one.variable {
			s.warnings = append(s.warnings, fmt.Sprintf("%s is an old name: set %s%s=%s instead", one.variable, s.prefix, variable(one.key), one.text))
		}
	}
}

// truthy returns text, or an empty text for false and zero: oper8 treats these as unset.
func truthy(text string) (string, error) {
	number, err := strconv.ParseFloat(text, 64)
	if strings.EqualFold(text, "false") || err == nil && number == 0 {
		return "", nil
	}
	return text, nil
}

// either translates true and false. An empty translation sets nothing.
func either(on, off string) func(string) (string, error) {
	return func(text string) (string, error) {
		switch value, err := strconv.ParseBool(strings.ToLower(text)); {
		case err != nil:
			return "", fmt.Errorf("use true or false")
		case value:
			return on, nil
		}
		return off, nil
	}
}

// seconds translates a number of seconds.
func seconds(text string) (string, error) {
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return "", fmt.Errorf("not a number of seconds")
	}
	return text + "s", nil
}

// lock translates the names of locks.
func lock(text string) (string, error) {
	switch text {
	case "leader-with-lease":
		return string(config.LeaseLock), nil
	case "leader-for-life":
		return string(config.ForLifeLock), nil
	case "annotation":
		return string(config.PerObjectLock), nil
	case "dryrun":
		return string(config.NoLock), nil
	}
	return "", fmt.Errorf("use leader-with-lease, leader-for-life, annotation or dryrun")
}
