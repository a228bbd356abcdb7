package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/spf13/pflag"
)

// fileKey is the key of the file with settings.
const fileKey = "config"

// Settings are the settings of a program while they are read. Use it from one goroutine, for one Load.
type Settings struct {
	config config.Config
	Options
	// prefix is the prefix of the names of environment variables.
	prefix string
	// oldNames are the variables of oper8 that have set keys.
	oldNames []oldName
	flags    *pflag.FlagSet
	// origins are the origins of the values that aren't defaults.
	origins  map[string]Origin
	problems []string
	// refused are the keys with a problem.
	refused  map[string]bool
	warnings []string
	// tolerant turns mistakes about unknown or wrong settings into warnings.
	tolerant bool
}

// Options configure the settings of a program. The zero value is valid.
type Options struct {
	// Defaults changes the defaults of config.Default. Nil changes nothing.
	Defaults func(*config.Config)
	// Kinds are the kinds of the program's controllers. The setting controllers accepts no other kinds. If Kinds is
	// empty, it accepts any.
	Kinds []string
	// Oper8 reads the environment by oper8's names, too, and warns about each name that it uses. The lock of leader
	// election is the same lock that oper8 takes in the same environment.
	Oper8 bool
	// NamespaceFile is the file by which Oper8 finds out whether the process runs in a Pod; default
	// leader.NamespaceFile.
	NamespaceFile string
}

// New returns the settings of a program of this name.
func New(program string, options Options) *Settings {
	s := &Settings{config: config.Default(), Options: options, prefix: variable(program) + "_", origins: map[string]Origin{}, refused: map[string]bool{}}
	s.NamespaceFile = cmp.Or(s.NamespaceFile, leader.NamespaceFile)
	if s.Defaults != nil {
		s.Defaults(&s.config)
	}
	s.config = clone(s.config)
	s.flags = pflag.NewFlagSet(program, pflag.ContinueOnError)
	s.flags.String(fileKey, "", "YAML file with settings")
	register(&s.config, s.flags)
	return s
}

// clone returns a copy of c that shares nothing with it.
func clone(c config.Config) config.Config {
	for _, list := range []*[]string{&c.Controllers, &c.Watch.Namespaces, &c.Versions.Supported, &c.Versions.Exempt, &c.Log.Filters} {
		*list = slices.Clone(*list)
	}
	return c
}

// Flags returns the flags, for a command to add. Flags that are added to them before Load are settings, too. Parsing
// accepts any value, and Load reports wrong values.
func (s *Settings) Flags() *pflag.FlagSet {
	s.flags.VisitAll(func(f *pflag.Flag) {
		if _, ours := f.Value.(*given); !ours {
			f.Value = &given{Value: f.Value, key: f.Name, name: "--" + f.Name, settings: s}
			if f.DefValue == "[]" { // then the help shows no default
				f.DefValue = ""
			}
		}
	})
	return s.flags
}

// given wraps the value of a flag. It records the origin of each value, and a problem if the value is wrong.
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

// inner returns the value of a flag without the wrapper given.
func inner(f *pflag.Flag) pflag.Value {
	if g, ok := f.Value.(*given); ok {
		return g.Value
	}
	return f.Value
}

// set sets the value of a key.
func (s *Settings) set(key string, from Origin, text string) {
	s.origins[key] = from
	value := inner(s.flags.Lookup(key))
	list, isList := value.(pflag.SliceValue)
	if isList { // the items may also be on separate lines
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

// trimmed trims the items of a list and leaves out empty ones.
func trimmed(items []string) []string {
	kept := make([]string, 0, len(items))
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" {
			kept = append(kept, item)
		}
	}
	return kept
}

// setList sets a list.
func (s *Settings) setList(key string, from Origin, items []string) {
	s.origins[key] = from
	value := inner(s.flags.Lookup(key))
	list, ok := value.(pflag.SliceValue)
	if !ok {
		s.refuse(key, from, strings.Join(items, ", "), "it takes one value, not a list")
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

// mistake adds a problem, or a warning if settings are tolerant.
func (s *Settings) mistake(text string) {
	if s.tolerant {
		s.warnings = append(s.warnings, text)
	} else {
		s.problems = append(s.problems, text)
	}
}

// reason returns what is wrong with a text. For numbers and bools it replaces the error of package strconv.
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
	// Key is the path, such as log.level, Type the type of the flag, such as int, and Value the value as text.
	Key, Type, Value string
	// IsList is set for lists, whose items are Items.
	IsList bool
	Items  []string
	// Origin is where the value comes from.
	Origin Origin
}

// All returns all settings, ascending by key.
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

// Given reports whether a flag, the environment or the file sets a key, even if the value is the default.
func (s *Settings) Given(key string) bool { return s.origins[key].Source != Program }

// Warnings returns harmless mistakes, such as environment variables that set nothing.
func (s *Settings) Warnings() []string { return s.warnings }

// Tolerate makes Load warn about wrong and unknown settings, and use the defaults instead. Use it in a release that
// reads the settings of another release. A file that can't be read remains an error.
func (s *Settings) Tolerate() { s.tolerant = true }

// Tolerant is the annotation of commands for which Tolerate is called.
const Tolerant = "operkit.dev/tolerant-settings"

// Alias adds a flag that is another name of a key.
func (s *Settings) Alias(set *pflag.FlagSet, name, shorthand, key string) {
	f := s.flags.Lookup(key)
	set.AddFlag(&pflag.Flag{
		Name: name, Shorthand: shorthand, Usage: f.Usage, Value: &given{Value: inner(f), key: key, name: "--" + name, settings: s},
		DefValue: f.DefValue, NoOptDefVal: f.NoOptDefVal,
	})
}
