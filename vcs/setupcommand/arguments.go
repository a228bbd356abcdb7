package setupcommand

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fromOper8 replaces oper8's -te with -t, in "-te X" and "-te=X". It keeps -teX: as with every flag of one letter, this
// is -t with the value eX.
func fromOper8(flags *pflag.FlagSet, args []string) []string {
	args = slices.Clone(args)
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		if value, is := strings.CutPrefix(args[i], "-te="); is {
			args[i] = "-t=" + value
		}
		if args[i] == "-te" {
			args[i] = "-t"
		}
		if takesNext(flags, args[i]) {
			i++ // a value may look like a flag
		}
	}
	return args
}

// takesNext reports whether the value of a flag is the next argument.
func takesNext(flags *pflag.FlagSet, arg string) bool {
	if name, long := strings.CutPrefix(arg, "--"); long {
		f := flags.Lookup(name)
		return f != nil && f.NoOptDefVal == ""
	}
	letters, short := strings.CutPrefix(arg, "-")
	for i := range len(letters) {
		f := flags.ShorthandLookup(letters[i : i+1])
		if !short || f == nil {
			return false
		}
		if f.NoOptDefVal == "" {
			return i == len(letters)-1
		}
	}
	return false
}

// explained adds a hint to an error in the flags.
func explained(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return fmt.Errorf("%w: see '%s --help'", err, cmd.CommandPath())
	}
	var known []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
	return fmt.Errorf("%w: use one of %s", err, strings.Join(known, ", "))
}
