package operator

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/heartbeat"
	"github.com/spf13/cobra"
)

func (o *Operator) checkHeartbeatCommand(settings *config.Settings) *cobra.Command {
	var file, delta string
	command := &cobra.Command{
		Use:   "check-heartbeat",
		Short: "Fail unless the process that runs has said of late that it makes progress",
		Long: "Fail unless the process that runs has said of late that it makes progress, in the file that the setting heartbeat.file names: for the\n" +
			"liveness probe of a Pod, by a command. A probe that asks by HTTP needs no file, see the setting health.address.",
		Example: fmt.Sprintf("  %[1]s check-heartbeat --heartbeat.file /tmp/heartbeat\n  %[1]s check-heartbeat --file /tmp/heartbeat --delta 90s", o.callName()),
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := o.open(cmd, settings)
			if err != nil {
				return err
			}
			within := 2 * p.Heartbeat.Period
			if delta != "" {
				if within, err = oldest(delta); err != nil {
					return err
				}
			}
			if file = cmp.Or(file, p.Heartbeat.File); file == "" {
				return usage("which file? Say --file, or the setting heartbeat.file")
			}
			return heartbeat.Check(file, within, time.Now())
		},
	}
	command.Flags().StringVarP(&file, "file", "f", "", "the file (default: that of the setting heartbeat.file)")
	command.Flags().StringVarP(&delta, "delta", "d", "", "how old the last heartbeat may be, such as 90s or, in seconds, 90 (default: twice the setting heartbeat.period)")
	return command
}

// oldest reads a duration, which may be a number of seconds as in oper8 (spec: operator 7).
func oldest(text string) (time.Duration, error) {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, nil
	}
	d, err := config.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, usage("--delta %q: write such as 90s, 5m, or a number of seconds", text)
	}
	return d, nil
}
