package settings_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/settings"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func Example() {
	s := settings.New("guestbook-operator", settings.Options{Defaults: func(c *config.Config) { c.Watch.Workers = 4 }})
	command := &cobra.Command{Use: "run", RunE: func(*cobra.Command, []string) error {
		c, err := s.Load([]string{"GUESTBOOK_OPERATOR_WATCH_WORKERS=8"})
		fmt.Println(c.Watch.Workers, c.Log.Level)
		return err
	}}
	command.PersistentFlags().AddFlagSet(s.Flags())
	command.SetArgs([]string{"--log.level", "debug"})
	fmt.Println(command.Execute())
	// Output:
	// 8 debug
	// <nil>
}

func ExampleSettings_Load() {
	s := settings.New("guestbook-operator", settings.Options{})
	_, err := s.Load([]string{"GUESTBOOK_OPERATOR_WATCH_WORKERS=many", "GUESTBOOK_OPERATOR_LOG_COLOUR=red", "GUESTBOOK_OPERATOR_RETRY_FIRST=1d"})
	fmt.Println(err)
	fmt.Println(s.Warnings())
	var wrong *settings.Error
	fmt.Println(errors.As(err, &wrong), len(wrong.Problems))
	// Output:
	// 2 settings are wrong:
	//   GUESTBOOK_OPERATOR_RETRY_FIRST="1d": invalid duration: write for example 90s, 500ms, 1h30m or 1hr30m, and 24h for a day
	//   GUESTBOOK_OPERATOR_WATCH_WORKERS="many": it is no whole number
	// [GUESTBOOK_OPERATOR_LOG_COLOUR: there is no such setting]
	// true 2
}

func ExampleSettings_All() {
	s := settings.New("guestbook-operator", settings.Options{})
	if _, err := s.Load([]string{"GUESTBOOK_OPERATOR_HEARTBEAT_FILE=/tmp/beat"}); err != nil {
		fmt.Println(err)
		return
	}
	for _, one := range s.All() {
		if s.Given(one.Key) {
			fmt.Println(one.Key, one.Value, one.Origin, one.Origin.Source == settings.Environment)
		}
	}
	// Output: heartbeat.file /tmp/beat GUESTBOOK_OPERATOR_HEARTBEAT_FILE true
}

func ExampleSettings_Flags() {
	s := settings.New("guestbook-operator", settings.Options{})
	currency := s.Flags().String("till.currency", "EUR", "currency of tills")
	_, err := s.Load([]string{"GUESTBOOK_OPERATOR_TILL_CURRENCY=CHF"})
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
	s := settings.New("guestbook-operator", settings.Options{})
	s.Tolerate()
	c, err := s.Load([]string{"GUESTBOOK_OPERATOR_CONFIG=" + path})
	fmt.Println(c.Log.Level, err)
	for _, warning := range s.Warnings() {
		fmt.Println(strings.TrimPrefix(warning, dir+"/"))
	}
	// Output:
	// debug <nil>
	// settings.yaml:1: log.colour: there is no such setting
}

func ExampleSettings_Environment() {
	s := settings.New("guestbook-operator", settings.Options{})
	fmt.Println(s.Flags().Parse([]string{"--config", "/etc/settings.yaml"}))
	fmt.Println(s.Environment([]string{"HOME=/root", "GUESTBOOK_OPERATOR_CONFIG=other.yaml"}))
	// Output:
	// <nil>
	// [HOME=/root GUESTBOOK_OPERATOR_CONFIG=/etc/settings.yaml]
}

// With no file there is none for the other process either, whatever the environment names.
func ExampleSettings_Environment_none() {
	s := settings.New("guestbook-operator", settings.Options{})
	fmt.Println(s.Flags().Parse([]string{"--config="}))
	fmt.Println(s.Environment([]string{"HOME=/root", "GUESTBOOK_OPERATOR_CONFIG=other.yaml"}))
	// Output:
	// <nil>
	// [HOME=/root]
}

func ExampleSettings_Alias() {
	s := settings.New("guestbook-operator", settings.Options{})
	set := pflag.NewFlagSet("run", pflag.ContinueOnError)
	s.Alias(set, "namespace", "n", "watch.namespaces")
	fmt.Println(set.Parse([]string{"-n", "shop"}))
	c, err := s.Load(nil)
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
	s := settings.New("guestbook-operator", settings.Options{})
	if _, err := s.Load([]string{"GUESTBOOK_OPERATOR_CONFIG=" + path}); err != nil {
		fmt.Println(err)
		return
	}
	var given []settings.Setting
	for _, one := range s.All() {
		if s.Given(one.Key) {
			one.Origin.Name = "settings.yaml"
			given = append(given, one)
		}
	}
	content, err := settings.Document(given)
	fmt.Print(string(content), err)
	// Output:
	// versions:
	//   operator: "1.10" # settings.yaml:1
	//   supported: ["1.9", "1.10"] # settings.yaml:1
	// <nil>
}

func ExampleOptions_oper8() {
	s := settings.New("guestbook-operator", settings.Options{Oper8: true})
	c, err := s.Load([]string{"LOG_JSON=true"})
	fmt.Println(c.Log.Format, err)
	fmt.Println(s.Warnings())
	// Output:
	// json <nil>
	// [LOG_JSON is an old name: set GUESTBOOK_OPERATOR_LOG_FORMAT=json instead]
}

func ExampleSuggestion() {
	fmt.Println("there is no such setting" + settings.Suggestion("log.lvl", []string{"log.level", "log.format"}, "--"))
	// Output: there is no such setting: did you mean --log.level?
}

func ExampleOptions_kinds() {
	s := settings.New("guestbook-operator", settings.Options{Kinds: []string{"Guestbook", "Page"}})
	_, err := s.Load([]string{"GUESTBOOK_OPERATOR_CONTROLLERS=Guestbok"})
	fmt.Println(err)
	// Output: GUESTBOOK_OPERATOR_CONTROLLERS="[Guestbok]": this operator has no controller of the kind Guestbok: choose one of Guestbook, Page
}

func ExampleOptions_namespaceFile() {
	s := settings.New("guestbook-operator", settings.Options{Oper8: true, NamespaceFile: "testdata/nowhere"})
	c, err := s.Load([]string{"PYTHON_WATCH_MANAGER_LOCK_TYPE=leader-with-lease", "OPERATOR_NAME=guestbook"})
	fmt.Println(c.LeaderElection.Namespace+"/"+c.LeaderElection.Name, err)
	// Output: default/guestbook <nil>
}
