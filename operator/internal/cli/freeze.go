package cli

import (
	"cmp"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/peering"
	"github.com/spf13/cobra"
)

// peersFlag adds the flag for the namespace in which the processes of the operator find each other.
func peersFlag(command *cobra.Command, namespace *string) {
	command.Flags().StringVarP(namespace, "namespace", "n", "",
		"namespace of the operator (default: the setting peering.namespace or leader-election.namespace, or the namespace of the context)")
}

// group returns the processes of the operator in a namespace.
func (o *Operator) group(p *Process, c *connection, namespace string) peering.Group {
	return peering.Group{
		Domain: o.Domain, Operator: o.Name,
		Namespace: cmp.Or(namespace, p.Peering.Namespace, p.LeaderElection.Namespace, c.namespace),
	}
}

func (o *Operator) freezeCommand() *cobra.Command {
	var namespace, lasts string
	command := &cobra.Command{
		Use:        "freeze",
		SuggestFor: []string{"halt", "hold", "standby"},
		Short:      "Make the running operator stop all its work for a while",
		Long: "Make all processes of the operator stop their work, until a time is over or until they are thawed. Running reconciles may\n" +
			"end. Processes without the setting peering.priority don't take part. To stop the work on single resources use pause.",
		Example: fmt.Sprintf("  %[1]s freeze\n  %[1]s freeze --for 1h -n shop", o.Called),
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := config.ParseDuration(lasts)
			if err != nil || d <= 0 || d > peering.LongestFreeze {
				return Usage("--for %q: use a duration such as 10m or 2h", lasts)
			}
			p, c, err := o.attach(cmd)
			if err != nil {
				return err
			}
			group := o.group(p, c, namespace)
			if err := group.Freeze(cmd.Context(), c.Port(), somebody(), d); err != nil {
				return c.explained(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s in namespace %s frozen for %s\n", o.Name, group.Namespace, d)
			peers, err := group.List(cmd.Context(), c.Port())
			if err == nil && len(peers) < 2 { // the freeze itself is one
				write(cmd.ErrOrStderr(), "warning: no process of the operator has announced itself in this namespace: it has to run with the setting peering.priority, or it isn't frozen")
			}
			return nil
		},
	}
	peersFlag(command, &namespace)
	command.Flags().StringVar(&lasts, "for", "10m", "how long: a duration such as 10m or 2h")
	return command
}

func (o *Operator) thawCommand() *cobra.Command {
	var namespace string
	command := &cobra.Command{
		Use:        "thaw",
		SuggestFor: []string{"unfreeze"},
		Short:      "End a freeze, so that the operator works again",
		Example:    fmt.Sprintf("  %[1]s thaw\n  %[1]s thaw -n shop", o.Called),
		Args:       noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, c, err := o.attach(cmd)
			if err != nil {
				return err
			}
			group := o.group(p, c, namespace)
			was, err := group.Thaw(cmd.Context(), c.Port())
			switch {
			case err != nil:
				return c.explained(err)
			case !was:
				fmt.Fprintf(cmd.OutOrStdout(), "%s in namespace %s wasn't frozen\n", o.Name, group.Namespace)
			default:
				fmt.Fprintf(cmd.OutOrStdout(), "%s in namespace %s thawed\n", o.Name, group.Namespace)
			}
			return nil
		},
	}
	peersFlag(command, &namespace)
	return command
}

func (o *Operator) peersCommand() *cobra.Command {
	var namespace string
	command := &cobra.Command{
		Use:     "peers",
		Short:   "Show the processes of the operator that take part in peering, and which of them works",
		Example: fmt.Sprintf("  %[1]s peers\n  %[1]s peers -n shop", o.Called),
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, c, err := o.attach(cmd)
			if err != nil {
				return err
			}
			peers, err := o.group(p, c, namespace).List(cmd.Context(), c.Port())
			if err != nil {
				return c.explained(err)
			}
			if len(peers) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "no peers found")
				return nil
			}
			return writeWhole(cmd.OutOrStdout(), peerRows(peers, time.Now()))
		},
	}
	peersFlag(command, &namespace)
	return command
}

// peerRows returns a table of peers. now is compared with the times of others, so a peer counts as gone only if it has
// run out by far.
func peerRows(peers []peering.Listed, now time.Time) [][]string {
	var all []peering.Peer
	for _, one := range peers {
		peer := one.Peer
		if peer.Ends = one.Ends; !peer.Frozen {
			peer.Ends = peer.Ends.Add(clockSkew)
		}
		all = append(all, peer)
	}
	rows := [][]string{{"PRIORITY", "PROCESS", "RENEWED", "STATE"}}
	for i, one := range peers {
		priority, state := fmt.Sprint(one.Priority), peering.Judge(all[i], all, now).String()
		switch {
		case !now.Before(all[i].Ends):
			state = "has ended"
		case one.Frozen:
			state = fmt.Sprintf("freezes the operator, for %s from now", one.Ends.Sub(now).Round(time.Second))
		}
		if one.Frozen {
			priority = "frozen"
		}
		rows = append(rows, []string{priority, one.Holder, max(now.Sub(one.Renewed), 0).Round(time.Second).String() + " ago", state})
	}
	return rows
}

// somebody names who uses the command: the user and the host.
func somebody() string {
	name, host := "somebody", "somewhere"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil && h != "" {
		host = h
	}
	return name + "@" + host
}
