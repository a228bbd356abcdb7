package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/operkit/operkit/operator/config"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func Example() {
	settings := config.New("guestbook-operator", func(c *config.Config) { c.Watch.Workers = 4 })
	command := &cobra.Command{Use: "run", RunE: func(*cobra.Command, []string) error {
		c, err := settings.Load([]string{"GUESTBOOK_OPERATOR_WATCH_WORKERS=8"})
		fmt.Println(c.Watch.Workers, c.Log.Level)
		return err
	}}
	command.PersistentFlags().AddFlagSet(settings.Flags())
	command.SetArgs([]string{"--log.level", "debug"})
	fmt.Println(command.Execute())
	// Output:
	// 8 debug
	// <nil>
}

func ExampleSettings_Load() {
	settings := config.New("guestbook-operator", nil)
	_, err := settings.Load([]string{"GUESTBOOK_OPERATOR_WATCH_WORKERS=many", "GUESTBOOK_OPERATOR_LOG_COLOUR=red", "GUESTBOOK_OPERATOR_RETRY_FIRST=1d"})
	fmt.Println(err)
	fmt.Println(settings.Warnings())
	var wrong *config.Error
	fmt.Println(errors.As(err, &wrong), len(wrong.Problems))
	// Output:
	// 2 settings are wrong:
	//   GUESTBOOK_OPERATOR_RETRY_FIRST="1d": it is no duration: write such as 90s, 500ms, 1h30m or 1hr30m, and 24h for a day
	//   GUESTBOOK_OPERATOR_WATCH_WORKERS="many": it is no whole number
	// [GUESTBOOK_OPERATOR_LOG_COLOUR: there is no such setting]
	// true 2
}

func ExampleSettings_All() {
	settings := config.New("guestbook-operator", nil)
	if _, err := settings.Load([]string{"GUESTBOOK_OPERATOR_HEARTBEAT_FILE=/tmp/beat"}); err != nil {
		fmt.Println(err)
		return
	}
	for _, one := range settings.All() {
		if settings.Given(one.Key) {
			fmt.Println(one.Key, one.Value, one.Origin, one.Origin.Source == config.Environment)
		}
	}
	// Output: heartbeat.file /tmp/beat GUESTBOOK_OPERATOR_HEARTBEAT_FILE true
}

func ExampleSettings_Flags() {
	settings := config.New("guestbook-operator", nil)
	currency := settings.Flags().String("till.currency", "EUR", "currency of tills")
	_, err := settings.Load([]string{"GUESTBOOK_OPERATOR_TILL_CURRENCY=CHF"})
	fmt.Println(*currency, err)
	// Output: CHF <nil>
}

// A release reads the file of a newer one.
func ExampleSettings_Tolerate() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "settings.yaml")
	if err := os.WriteFile(path, []byte("log: {level: debug, colour: red}"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	settings := config.New("guestbook-operator", nil)
	settings.Tolerate()
	c, err := settings.Load([]string{"GUESTBOOK_OPERATOR_CONFIG=" + path})
	fmt.Println(c.Log.Level, err)
	for _, warning := range settings.Warnings() {
		fmt.Println(strings.TrimPrefix(warning, dir+"/"))
	}
	// Output:
	// debug <nil>
	// settings.yaml:1: log.colour: there is no such setting
}

func ExampleSettings_Environment() {
	settings := config.New("guestbook-operator", nil)
	fmt.Println(settings.Flags().Parse([]string{"--config", "/etc/settings.yaml"}))
	fmt.Println(settings.Environment([]string{"HOME=/root", "GUESTBOOK_OPERATOR_CONFIG=other.yaml"}))
	// Output:
	// <nil>
	// [HOME=/root GUESTBOOK_OPERATOR_CONFIG=/etc/settings.yaml]
}

// With no file there is none for the other process either, whatever the environment names.
func ExampleSettings_Environment_none() {
	settings := config.New("guestbook-operator", nil)
	fmt.Println(settings.Flags().Parse([]string{"--config="}))
	fmt.Println(settings.Environment([]string{"HOME=/root", "GUESTBOOK_OPERATOR_CONFIG=other.yaml"}))
	// Output:
	// <nil>
	// [HOME=/root]
}

func ExampleSettings_Alias() {
	settings := config.New("guestbook-operator", nil)
	set := pflag.NewFlagSet("run", pflag.ContinueOnError)
	settings.Alias(set, "namespace", "n", "watch.namespaces")
	fmt.Println(set.Parse([]string{"-n", "shop"}))
	c, err := settings.Load(nil)
	fmt.Println(c.Watch.Namespaces, err)
	// Output:
	// <nil>
	// [shop] <nil>
}

func ExampleDocument() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "settings.yaml")
	if err := os.WriteFile(path, []byte("versions: {operator: 1.10, supported: [1.9, 1.10]}"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	settings := config.New("guestbook-operator", nil)
	if _, err := settings.Load([]string{"GUESTBOOK_OPERATOR_CONFIG=" + path}); err != nil {
		fmt.Println(err)
		return
	}
	var given []config.Setting
	for _, one := range settings.All() {
		if settings.Given(one.Key) {
			one.Origin.Name = "settings.yaml"
			given = append(given, one)
		}
	}
	content, err := config.Document(given)
	fmt.Print(string(content), err)
	// Output:
	// versions:
	//   operator: "1.10" # settings.yaml:1
	//   supported: ["1.9", "1.10"] # settings.yaml:1
	// <nil>
}

func ExampleOper8Environment() {
	settings := config.New("guestbook-operator", nil, config.Oper8Environment())
	c, err := settings.Load([]string{"LOG_JSON=true"})
	fmt.Println(c.Log.Format, err)
	fmt.Println(settings.Warnings())
	// Output:
	// json <nil>
	// [LOG_JSON is an old name: set GUESTBOOK_OPERATOR_LOG_FORMAT=json instead]
}

func ExampleDurationVar() {
	settings := config.New("guestbook-operator", nil)
	var interval time.Duration
	config.DurationVar(settings.Flags(), &interval, "till.interval", time.Minute, "how often tills are counted")
	_, err := settings.Load([]string{"GUESTBOOK_OPERATOR_TILL_INTERVAL=1hr30m"})
	fmt.Println(interval, err)
	// Output: 1h30m0s <nil>
}

func ExampleParseDuration() {
	fmt.Println(config.ParseDuration("12hr13m14s"))
	// Output: 12h13m14s <nil>
}

func ExampleSuggestion() {
	fmt.Println("there is no such setting" + config.Suggestion("log.lvl", []string{"log.level", "log.format"}, "--"))
	// Output: there is no such setting: did you mean --log.level?
}

func ExampleDefault() {
	fmt.Println(config.Default().Watch.Period)
	// Output: 10m0s
}

// A program's own defaults, section by section.
func ExampleConfig() {
	c := config.Default()
	c.KubeAPI = config.KubeAPI{QPS: 50, Burst: 100}
	c.Retry = config.Retry{First: time.Second, Longest: time.Minute, Attempts: 10}
	c.Rollout = config.Rollout{Concurrency: 2}
	c.Status = config.Status{Manage: true, Graph: true}
	c.Objects = config.Objects{InternalNames: true}
	c.Versions = config.Versions{Supported: []string{"1.0.0", "1.1.0"}, Strict: true}
	c.LeaderElection.Lock = config.LeaseLock
	c.Events = config.Events{Level: config.AllEvents}
	c.Heartbeat = config.Heartbeat{File: "/tmp/beat", Period: time.Minute}
	c.Health = config.Health{Address: ":8081"}
	c.Metrics = config.Metrics{Address: config.AutoAddress, Authorize: true}
	c.Profiling = config.Profiling{Address: "127.0.0.1:6060"}
	c.Manifests = config.Manifests{Directory: "/tmp/manifests"}
	settings := config.New("guestbook-operator", func(defaults *config.Config) { *defaults = c })
	loaded, err := settings.Load([]string{"GUESTBOOK_OPERATOR_RETRY_ATTEMPTS=3"})
	fmt.Println(loaded.Retry, loaded.LeaderElection.Lock, loaded.Versions.Supported, err)
	// Output: {1s 1m0s 3} lease [1.0.0 1.1.0] <nil>
}

func ExampleKinds() {
	settings := config.New("guestbook-operator", nil, config.Kinds("Guestbook", "Page"))
	_, err := settings.Load([]string{"GUESTBOOK_OPERATOR_CONTROLLERS=Guestbok"})
	fmt.Println(err)
	// Output: GUESTBOOK_OPERATOR_CONTROLLERS="[Guestbok]": this operator has none of the kind Guestbok: choose of Guestbook, Page
}

func ExampleNamespaceFile() {
	settings := config.New("guestbook-operator", nil, config.Oper8Environment(), config.NamespaceFile("testdata/nowhere"))
	c, err := settings.Load([]string{"PYTHON_WATCH_MANAGER_LOCK_TYPE=leader-with-lease", "OPERATOR_NAME=guestbook"})
	fmt.Println(c.LeaderElection.Namespace+"/"+c.LeaderElection.Name, err)
	// Output: default/guestbook <nil>
}
