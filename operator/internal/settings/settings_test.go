package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/operator/config"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// said is what is said of the settings of a program.
type said struct {
	flags, environ []string
	// file is the content of one, none if it is empty.
	file   string
	change func(*config.Config)
	old    bool
}

// load reads what is said by a program named shop-operator, with a key of its own.
func load(t *testing.T, what said) (*Settings, config.Config, error) {
	t.Helper()
	s := New("shop-operator", Options{Defaults: what.change, Oper8: what.old, Kinds: []string{"Shop"}})
	s.Flags().String("till.currency", "EUR", "currency of tills")
	if what.file != "" {
		path := filepath.Join(t.TempDir(), "settings.yaml")
		require.NoError(t, os.WriteFile(path, []byte(what.file), 0o600))
		what.flags = append(what.flags, "--config", path)
	}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.AddFlagSet(s.Flags())
	require.NoError(t, flags.Parse(what.flags))
	c, err := s.Load(what.environ)
	return s, c, err
}

// of is a key with its value and the kind of its source.
func of(t *testing.T, s *Settings, key string) string {
	t.Helper()
	for _, one := range s.All() {
		if one.Key == key {
			return fmt.Sprintf("%s %d", one.Value, one.Origin.Source)
		}
	}
	require.Fail(t, "no such key", key)
	return ""
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	file := "watch: {workers: 2}\nlog:\n  level: debug\n"
	environ := []string{"SHOP_OPERATOR_WATCH_WORKERS=3", "SHOP_OPERATOR_RETRY_ATTEMPTS= 5 ", "PATH=/bin"}
	four := func(c *config.Config) { c.Watch.Workers = 4 }
	for reason, row := range map[string]struct {
		said said
		want string
	}{
		"nothing is said":                      {said{}, "0 0"},
		"the program":                          {said{change: four}, "4 0"},
		"operator 15: a file over the program": {said{change: four, file: file}, "2 1"},
		"operator 15: the environment over it": {said{change: four, file: file, environ: environ}, "3 2"},
		"operator 15: a flag over all":         {said{change: four, file: file, environ: environ, flags: []string{"--watch.workers=1"}}, "1 3"},
		"an empty variable says nothing":       {said{change: four, environ: []string{"SHOP_OPERATOR_WATCH_WORKERS="}}, "4 0"},
		"what is said again is said":           {said{flags: []string{"--watch.workers", "0"}}, "0 3"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s, c, err := load(t, row.said)
			require.NoError(t, err)
			assert.Equal(t, row.want, of(t, s, "watch.workers"))
			assert.Equal(t, row.want, fmt.Sprintf("%d %d", c.Watch.Workers, s.origins["watch.workers"].Source))
			assert.Equal(t, row.want[2:] != "0", s.Given("watch.workers"))
			assert.Empty(t, s.Warnings())
		})
	}
	_, c, err := load(t, said{file: file, environ: environ})
	require.NoError(t, err)
	assert.Equal(t, "debug", c.Log.Level, "each key for itself")
	assert.Equal(t, 5, c.Retry.Attempts, "operator 14: trimmed")
}

func TestTypes(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		said      said
		key, want string
	}{
		"operator mistake 6: a version is text, in a file":   {said{file: "versions: {operator: 1.10}"}, "versions.operator", "1.10 1"},
		"operator mistake 6: and in the environment":         {said{environ: []string{"SHOP_OPERATOR_VERSIONS_OPERATOR=1.10"}}, "versions.operator", "1.10 2"},
		"operator mistake 6: a list with commas":             {said{environ: []string{"SHOP_OPERATOR_VERSIONS_SUPPORTED=1.0,1.1"}}, "versions.supported", "1.0,1.1 2"},
		"operator mistake 6: a list as JSON":                 {said{environ: []string{`SHOP_OPERATOR_VERSIONS_SUPPORTED=["1.0", " a,b "]`}}, "versions.supported", "1.0,a,b 2"},
		"items of a list are trimmed":                        {said{environ: []string{"SHOP_OPERATOR_VERSIONS_SUPPORTED=1.0, 1.1,"}}, "versions.supported", "1.0,1.1 2"},
		"items of a list in lines":                           {said{file: "versions:\n  supported: |\n    1.0\n    1.1\n"}, "versions.supported", "1.0,1.1 1"},
		"a list in a file":                                   {said{file: "versions:\n  supported: [1.0, \"a,b\"]\n"}, "versions.supported", "1.0,a,b 1"},
		"a list in a file, as one text":                      {said{file: "versions: {supported: '1.0,1.1'}"}, "versions.supported", "1.0,1.1 1"},
		"operator 15: a list of flags":                       {said{flags: []string{"--versions.supported", "1.0", "--versions.supported=1.1,1.2"}}, "versions.supported", "1.0,1.1,1.2 3"},
		"an empty list is one":                               {said{file: "versions: {exempt: []}"}, "versions.exempt", " 1"},
		"operator mistake 4: a switch may be turned off":     {said{flags: []string{"--status.manage=false"}}, "status.manage", "false 3"},
		"a switch by its name":                               {said{flags: []string{"--status.graph"}}, "status.graph", "true 3"},
		"operator 14: a switch in any case":                  {said{environ: []string{"SHOP_OPERATOR_STATUS_MANAGE=False"}}, "status.manage", "false 2"},
		"a duration as Go writes it":                         {said{file: "watch: {period: 1h30m}"}, "watch.period", "1h30m0s 1"},
		"watch 13: and as oper8 does":                        {said{file: "watch: {period: 1hr30m}"}, "watch.period", "1h30m0s 1"},
		"never":                                              {said{file: "watch: {period: 0}"}, "watch.period", "0 1"},
		"a key with dots in a file":                          {said{file: "watch.workers: 3"}, "watch.workers", "3 1"},
		"nothing in a file says nothing":                     {said{file: "watch:\n  workers:\nlog:\n"}, "watch.workers", "0 0"},
		"an anchor":                                          {said{file: "a: &three 3\nwatch: {workers: *three}"}, "", "there is no such setting"},
		"a key of the program's own":                         {said{environ: []string{"SHOP_OPERATOR_TILL_CURRENCY=CHF"}}, "till.currency", "CHF 2"},
		"a file that is empty":                               {said{file: "# nothing yet\n"}, "watch.workers", "0 0"},
		"a file that the environment names, which isn't one": {said{environ: []string{"SHOP_OPERATOR_CONFIG=nowhere.yaml"}}, "", `SHOP_OPERATOR_CONFIG="nowhere.yaml": no such file or directory`},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s, _, err := load(t, row.said)
			if row.key == "" {
				require.ErrorContains(t, err, row.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, of(t, s, row.key))
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		said   said
		want   []string
	}{
		{"operator mistake 3: a word where a number belongs", said{flags: []string{"--watch.workers", "four"}}, []string{`--watch.workers "four": it is no whole number`}},
		{"a number with a fraction", said{file: "watch:\n  workers: 1.2\n"}, []string{`settings.yaml:2: watch.workers: "1.2": it is no whole number`}},
		{"no number", said{environ: []string{"SHOP_OPERATOR_KUBE_API_QPS=many"}}, []string{`SHOP_OPERATOR_KUBE_API_QPS="many": it is no number`}},
		{"neither true nor false", said{file: "status: {manage: perhaps}"}, []string{`status.manage: "perhaps": use true or false`}},
		{"no duration", said{file: "watch: {period: 1d}"}, []string{`watch.period: "1d": invalid duration: write for example 90s, 500ms, 1h30m or 1hr30m, and 24h for a day`}},
		{"a list where one belongs", said{file: "log: {level: [info]}"}, []string{`log.level: "info": it takes one value, not a list`}},
		{"a map where one belongs", said{file: "log: {level: {info: 1}}"}, []string{"log.level: it takes a value, not a map"}},
		{"a map in a list", said{file: "controllers:\n- {Shop: 1}\n"}, []string{"settings.yaml:2: controllers: each item of the list is one value"}},
		{"a value where a map belongs", said{file: "log: info"}, []string{"log: there is no such setting"}},
		{"a file that is no map", said{file: "- log"}, []string{"the settings must be a map of keys"}},
		{"a file that is no YAML", said{file: "log: [\n"}, []string{"invalid YAML"}},
		{"a map that holds itself", said{file: "log: &log {level: *log}"}, []string{"an alias can't stand for a map: write the map out"}},
		{"two documents", said{file: "log: {level: info}\n---\nlog: {level: debug}\n"}, []string{"it holds several documents: put the settings into one"}},
		{"twice", said{file: "log: {level: info}\nlog.level: debug\n"}, []string{"settings.yaml:2: log.level is set in line 1 already"}},
		{"no list in JSON", said{environ: []string{"SHOP_OPERATOR_CONTROLLERS=[1]"}}, []string{"it isn't a JSON list of strings"}},
		{"operator mistake 5: an unknown key", said{file: "watch:\n  worker: 3\n"}, []string{"settings.yaml:2: watch.worker: there is no such setting: did you mean watch.workers?"}},
		{"one that is like none", said{file: "zebra: 3\n"}, []string{"settings.yaml:1: zebra: there is no such setting"}},
		{"a file in a file", said{file: "config: a.yaml"}, []string{"a file with settings can't name another file"}},
		{
			"what can be read is looked at all the same",
			said{flags: []string{"--watch.workers", "x", "--log.level", "loud", "--leader-election.retry-period", "often", "--controllers", "Till, Shop"}},
			[]string{`--watch.workers "x": it is no whole number`, `--log.level "loud": `, `--leader-election.retry-period "often"`, "this operator has no controller of the kind Till: choose one of Shop"},
		},
		{
			"all at once, each with where it was said",
			said{flags: []string{"--watch.workers", "x"}, environ: []string{"SHOP_OPERATOR_RETRY_ATTEMPTS=y"}, file: "log: {colour: red}\nkube-api: {qps: z}\n"},
			[]string{"4 settings are wrong:\n  --watch.workers", "\n  SHOP_OPERATOR_RETRY_ATTEMPTS", "settings.yaml:1: log.colour", "settings.yaml:2: kube-api.qps"},
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			_, c, err := load(t, row.said)
			var wrong *Error
			require.ErrorAs(t, err, &wrong)
			assert.Len(t, wrong.Problems, max(1, len(row.want)), "%v", wrong.Problems)
			for _, want := range row.want {
				assert.ErrorContains(t, err, want)
			}
			assert.Zero(t, c)
		})
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]string{
		"kube-api.qps=0":                                       `--kube-api.qps "0": it must be more than 0`,
		"kube-api.qps=NaN":                                     "it must be more than 0",
		"kube-api.burst=-1":                                    "it can't be negative",
		"watch.workers=-1":                                     "it can't be negative",
		"watch.period=-1s":                                     "it can't be negative",
		"watch.recheck=-1s":                                    "it can't be negative",
		"watch.grace=-1s":                                      "it can't be negative",
		"watch.timeout=0":                                      "it must be positive",
		"watch.filter=loud":                                    `--watch.filter "loud": `,
		"watch.namespaces=A":                                   `--watch.namespaces "[A]": `,
		"watch.namespace-selector=a==b==c":                     "--watch.namespace-selector",
		"retry.first=0":                                        "it must be positive",
		"retry.longest=1ms":                                    "it can't be less than retry.first, 250ms",
		"retry.attempts=-1":                                    "it can't be negative",
		"rollout.concurrency=-1":                               "it can't be negative",
		"versions.exempt=[":                                    "no pattern",
		"leader-election.lock=mine":                            "use auto, lease, for-life, per-object or none",
		"leader-election.renew-deadline=20s":                   "leader-election: duration: 15s: it must be longer than the renew deadline of 20s",
		"log.level=loud":                                       `level "loud": use off, error`,
		"log.format=xml":                                       "use text or json",
		"log.filters=billing":                                  "each is CHANNEL:LEVEL",
		"heartbeat.period=0":                                   "it must be positive",
		"health.address=8081":                                  "use auto, off, or an address such as :8081",
		"health.address=:http":                                 "use auto, off, or an address",
		"health.address=:70000":                                "use auto, off, or an address",
		"metrics.address=8080":                                 "use auto, off, or an address such as :8080",
		"metrics.key-file=tls.key":                             "give both metrics.certificate-file and metrics.key-file",
		"metrics.certificate-file=tls.crt":                     "give both metrics.certificate-file and metrics.key-file",
		"profiling.address=auto":                               "use off, or an address such as :6060",
		"webhooks.address=9443":                                "use auto, off, or an address such as :9443",
		"webhooks.service=a.b":                                 "is no name of a Service",
		"webhooks.service=shop:https":                          "use a number from 1 to 65535",
		"webhooks.url=http://127.0.0.1":                        "use https://HOST:PORT",
		"webhooks.url=https://127.0.0.1/hooks":                 "webhooks have paths of their own",
		"webhooks.url=https://me@127.0.0.1":                    "the API server takes no user",
		"webhooks.url=https://a --webhooks.service=b":          "it can't be given together with webhooks.service",
		"webhooks.secret=A":                                    "a lowercase RFC 1123 subdomain",
		"webhooks.secret=a --webhooks.certificate-directory=b": "it has no meaning with webhooks.certificate-directory",
		"webhooks.inject-ca-from=a/b":                          "it needs webhooks.certificate-directory",
		"webhooks.inject-ca-from=a --webhooks.certificate-directory=b": "use NAMESPACE/NAME",
		"manifests.disabled":                                            "it needs manifests.directory",
		"status.graph --status.manage=false":                            "--status.graph \"true\": it needs status.manage",
		"leader-election.lock=none --leader-election.name=a":            "it has no meaning with leader-election.lock none",
		"leader-election.lock=per-object --leader-election.namespace=a": "it has no meaning with leader-election.lock per-object",
		"leader-election.lock=for-life --leader-election.duration=1m":   "it has no meaning with leader-election.lock for-life",
	} {
		t.Run("operator 16, 17: "+flag, func(t *testing.T) {
			t.Parallel()
			_, _, err := load(t, said{flags: strings.Fields("--" + flag)})
			var wrong *Error
			require.ErrorAs(t, err, &wrong)
			assert.Len(t, wrong.Problems, 1, "%v", wrong.Problems)
			assert.ErrorContains(t, err, want)
		})
	}
	_, c, err := load(t, said{flags: []string{"--leader-election.lock=none"}, environ: []string{"SHOP_OPERATOR_LEADER_ELECTION_NAME=a"}})
	require.NoError(t, err, "what somebody said of another lock is overruled with it")
	assert.Equal(t, config.NoLock, c.LeaderElection.Lock)
	assert.Empty(t, c.LeaderElection.Name)
	_, c, err = load(t, said{flags: []string{"--leader-election.lock=for-life", "--leader-election.renew-deadline=1m"}})
	require.NoError(t, err, "who leads for life does so however long renewing may take")
	assert.Equal(t, time.Minute, c.LeaderElection.RenewDeadline)
	_, c, err = load(t, said{flags: []string{"--watch.namespaces", " a , team-*"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "team-*"}, c.Watch.Namespaces, "watch 5, mistake 24: trimmed")
}

func TestNothingIsShared(t *testing.T) {
	t.Parallel()
	mine := []string{"a", "b"}
	s := New("shop-operator", Options{Defaults: func(c *config.Config) { c.Watch.Namespaces = mine }})
	c, err := s.Load([]string{"SHOP_OPERATOR_VERSIONS_SUPPORTED=1"})
	require.NoError(t, err)
	c.Watch.Namespaces[0], c.Versions.Supported[0] = "zebra", "zebra"
	assert.Equal(t, []string{"a", "b"}, mine)
	for _, one := range s.All() {
		assert.NotContains(t, one.Value, "zebra", one.Key)
	}
}

func TestFlagsThatAreAddedLate(t *testing.T) {
	t.Parallel()
	s := New("shop-operator", Options{})
	set := s.Flags()
	currency := set.String("till.currency", "EUR", "")
	require.NoError(t, set.Parse([]string{"--till.currency=USD"}))
	_, err := s.Load([]string{"SHOP_OPERATOR_TILL_CURRENCY=CHF"})
	require.NoError(t, err)
	assert.Equal(t, "USD", *currency)
	assert.True(t, s.Given("till.currency"))
}

func TestDefaultIsValid(t *testing.T) {
	t.Parallel()
	s, c, err := load(t, said{})
	require.NoError(t, err)
	assert.Equal(t, config.Default().Watch, c.Watch)
	assert.Equal(t, 10*time.Minute, c.Watch.Period, "operator 11")
	for _, one := range s.All() {
		assert.Equal(t, Origin{}, one.Origin, one.Key)
	}
}

func TestVariablesThatNobodyReads(t *testing.T) {
	t.Parallel()
	s, _, err := load(t, said{environ: []string{
		"SHOP_OPERATOR_WATCH_WORKER=3", "SHOP_OPERATOR_ZEBRA=1", "SHOP_OPERATOR_EMPTY=", "OTHER_WORKERS=3",
		// What Kubernetes gives to Pods beside a Service shop-operator.
		"SHOP_OPERATOR_SERVICE_HOST=10.0.0.1", "SHOP_OPERATOR_SERVICE_PORT=80", "SHOP_OPERATOR_SERVICE_PORT_METRICS=80", "SHOP_OPERATOR_PORT=tcp://10.0.0.1:80",
		"SHOP_OPERATOR_METRICS_SERVICE_HOST=10.0.0.2", "SHOP_OPERATOR_METRICS_PORT_80_TCP_ADDR=10.0.0.2",
		"SHOP_OPERATOR_PORT_80_TCP=tcp://10.0.0.1:80", "SHOP_OPERATOR_PORT_80_TCP_PROTO=tcp", "SHOP_OPERATOR_PORT_80_TCP_ADDR=10.0.0.1",
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"SHOP_OPERATOR_WATCH_WORKER: there is no such setting: did you mean SHOP_OPERATOR_WATCH_WORKERS?",
		"SHOP_OPERATOR_ZEBRA: there is no such setting",
	}, s.Warnings())
}

// What a release can't do with of another one's settings is as by default, and warned of.
func TestTolerate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, file string
		key, want    string
		warns, fails string
	}{
		{"what it doesn't know", "till: {colour: red, currency: USD}", "till.currency", "USD 1", "till.colour: there is no such setting", ""},
		{"controllers of which it has none", "controllers: [Market]", "controllers", " 0", "this operator has no controller of the kind Market", ""},
		{"some of which it has none", "controllers: [Shop, Market]", "controllers", " 0", "this operator has no controller of the kind Market", ""},
		{"a value of another kind", "watch: {workers: many}", "watch.workers", "0 0", "it is no whole number", ""},
		{"a choice that came later", "leader-election: {lock: quorum}", "leader-election.lock", "auto 0", "use auto, lease, for-life, per-object or none", ""},
		{"one of two that belong together", "manifests: {disabled: true}", "manifests.disabled", "false 0", "it needs manifests.directory", ""},
		{"times that don't go together", "leader-election: {renew-deadline: 40s}", "leader-election.renew-deadline", "40s 1", "leader-election: ", ""},
		{"a file that is none", "log: [", "log.level", "", "", "invalid YAML"},
		{"what stands there twice", "log.level: info\nlog: {level: debug}", "log.level", "", "", "log.level is set in line 1 already"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			s := New("shop-operator", Options{Kinds: []string{"Shop"}})
			s.Flags().String("till.currency", "EUR", "currency of tills")
			s.Tolerate()
			path := filepath.Join(t.TempDir(), "settings.yaml")
			require.NoError(t, os.WriteFile(path, []byte(row.file), 0o600))
			_, err := s.Load([]string{"SHOP_OPERATOR_CONFIG=" + path})
			if row.fails != "" {
				require.ErrorContains(t, err, row.fails)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, of(t, s, row.key))
			assert.Contains(t, strings.Join(s.Warnings(), "\n"), row.warns)
		})
	}
}
