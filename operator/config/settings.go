package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/leader"
	"github.com/spf13/pflag"
)

// fileKey is the key of the file with settings.
const fileKey = "config"

// Settings are the keys of a program and their values, while they are read. Use one from one goroutine, for one Load.
type Settings struct {
	config Config
	// prefix begins the names of environment variables.
	prefix string
	oper8  bool
	// namespaceFile has the namespace of a Pod; oldNames are oper8's variables that were taken over.
	namespaceFile string
	oldNames      []oldName
	// kinds are those of the controllers that there are, none if that isn't known.
	kinds []string
	flags *pflag.FlagSet
	// origins are where values come from that aren't defaults.
	origins  map[string]Origin
	problems []string
	// refused are the keys of which a problem was told.
	refused  map[string]bool
	warnings []string
	// tolerant has warnings be all that comes of settings that aren't known here, or wrong.
	tolerant bool
}

// Option sets what is rarely set.
type Option func(*Settings)

// Oper8Environment has the environment read by oper8's bare names too, such as LOG_LEVEL, with a warning for each one that
// counts. A name with the prefix comes first. The lock of leader election is the one that oper8 takes in the same
// environment: OPERATOR_NAME names it before PYTHON_WATCH_MANAGER_LOCK_NAME, and PYTHON_WATCH_MANAGER_LOCK_NAMESPACE
// counts outside of a Pod only, where PYTHON_WATCH_MANAGER_LOCK_TYPE alone means the namespace "default".
func Oper8Environment() Option { return func(s *Settings) { s.oper8 = true } }

// NamespaceFile sets the file by which Oper8Environment finds out whether the process runs in a Pod; default
// leader.NamespaceFile.
func NamespaceFile(path string) Option { return func(s *Settings) { s.namespaceFile = path } }

// Kinds are those of the program's controllers: others can't be chosen by the key controllers.
func Kinds(kinds ...string) Option { return func(s *Settings) { s.kinds = kinds } }

// New returns the settings of a program of this name, whose defaults are what change makes of those of Default.
func New(program string, change func(*Config), options ...Option) *Settings {
	s := &Settings{
		config: Default(), prefix: variable(program) + "_", origins: map[string]Origin{}, refused: map[string]bool{},
		namespaceFile: leader.NamespaceFile,
	}
	if change != nil {
		change(&s.config)
	}
	s.config = s.config.clone()
	for _, option := range options {
		option(s)
	}
	s.flags = pflag.NewFlagSet(program, pflag.ContinueOnError)
	s.flags.String(fileKey, "", "YAML file with settings")
	s.config.register(s.flags)
	return s
}

// Flags returns the flags, for a command to add. Flags added to them before Load are keys too. Parsing them leaves it to Load
// to tell what is wrong with a value.
func (s *Settings) Flags() *pflag.FlagSet {
	s.flags.VisitAll(func(f *pflag.Flag) {
		if _, ours := f.Value.(*given); !ours {
			f.Value = &given{Value: f.Value, key: f.Name, name: "--" + f.Name, settings: s}
			if f.DefValue == "[]" { // help shows no default for that
				f.DefValue = ""
			}
		}
	})
	return s.flags
}

// given is a flag's value of which it is known what was wrong with it.
type given struct {
	pflag.Value
	key, name string
	settings  *Settings
}

// Set implements pflag.Value. It never fails.
func (g *given) Set(text string) error {
	g.settings.set(g.key, Origin{Flag, g.name, 0}, text)
	return nil
}

// inner is the value of a flag that knows its type.
func inner(f *pflag.Flag) pflag.Value {
	if g, ok := f.Value.(*given); ok {
		return g.Value
	}
	return f.Value
}

// set takes a value over.
func (s *Settings) set(key string, from Origin, text string) {
	s.origins[key] = from
	value := inner(s.flags.Lookup(key))
	list, isList := value.(pflag.SliceValue)
	if isList { // whose items may stand in lines
		text = strings.ReplaceAll(text, "\n", ",")
	}
	if err := value.Set(text); err != nil {
		s.refuse(key, from, text, reason(value, err))
		return
	}
	if isList {
		_ = list.Replace(trimmed(list.GetSlice()))
	}
}

// trimmed are the items of a list that say something.
func trimmed(items []string) []string {
	kept := make([]string, 0, len(items))
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" {
			kept = append(kept, item)
		}
	}
	return kept
}

// setList takes a list over, as a whole.
func (s *Settings) setList(key string, from Origin, items []string) {
	s.origins[key] = from
	value := inner(s.flags.Lookup(key))
	list, ok := value.(pflag.SliceValue)
	if !ok {
		s.refuse(key, from, strings.Join(items, ", "), "it takes one value and no list")
		return
	}
	if err := list.Replace(trimmed(items)); err != nil {
		s.refuse(key, from, strings.Join(items, ", "), reason(value, err))
	}
}

func (s *Settings) refuse(key string, from Origin, text, reason string) {
	s.refused[key] = true
	s.mistake(fmt.Sprintf("%s: %s", from.said(key, text), reason))
}

// mistake notes what is wrong with settings, or, of those that are tolerated, warns of it.
func (s *Settings) mistake(text string) {
	if s.tolerant {
		s.warnings = append(s.warnings, text)
	} else {
		s.problems = append(s.problems, text)
	}
}

// reason says what is wrong with a text for people who don't know how flags are read.
func reason(value pflag.Value, err error) string {
	switch value.Type() {
	case "bool":
		return "use true or false"
	case "int":
		return "it is no whole number"
	case "float64":
		return "it is no number"
	}
	return err.Error()
}

// Setting is the value of one key.
type Setting struct {
	// Key is its path, such as log.level.
	Key string
	// Type is that of the flag: string, bool, int, duration and so on.
	Type string
	// Value is what it is, as text.
	Value string
	// Items are those of a list.
	Items []string
	// IsList tells that it is one, perhaps an empty one.
	IsList bool
	// Origin is where the value comes from.
	Origin Origin
}

// All returns the value of every key, ascending by key.
func (s *Settings) All() []Setting {
	var all []Setting
	s.flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == fileKey {
			return
		}
		one := Setting{Key: f.Name, Type: f.Value.Type(), Value: f.Value.String(), Origin: s.origins[f.Name]}
		if list, ok := inner(f).(pflag.SliceValue); ok {
			one.Items, one.IsList = list.GetSlice(), true
			one.Value = strings.Join(one.Items, ",")
		}
		all = append(all, one)
	})
	slices.SortFunc(all, func(a, b Setting) int { return cmp.Compare(a.Key, b.Key) })
	return all
}

// Given tells whether a key was given at all, also with the value that it has anyway.
func (s *Settings) Given(key string) bool { return s.origins[key].Source != Program }

// Warnings are what should be mended and does no harm, such as variables of the environment that nobody reads.
func (s *Settings) Warnings() []string { return s.warnings }

// Tolerate has Load warn of settings that it would refuse, and have them as they are by default: for a release that is given the
// settings of another one, or a part of them. A file that can't be read is an error all the same.
func (s *Settings) Tolerate() { s.tolerant = true }

// Alias adds a flag to a command that is another name of a key's.
func (s *Settings) Alias(set *pflag.FlagSet, name, shorthand, key string) {
	f := s.flags.Lookup(key)
	set.AddFlag(&pflag.Flag{
		Name: name, Shorthand: shorthand, Usage: f.Usage, Value: &given{Value: inner(f), key: key, name: "--" + name, settings: s},
		DefValue: f.DefValue, NoOptDefVal: f.NoOptDefVal,
	})
}
