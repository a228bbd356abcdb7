package usercases

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
)

const (
	// window is how long is looked at how often two operators write, few is how often they may.
	window = 5 * time.Second
	few    = 3
)

// twice are resources that two installations of one operator have, which render different values under one name.
func twice() []userCase {
	return []userCase{
		{name: "two-flavours", reason: "two operators of one name render different values: they don't write for ever, and say so", steps: []step{
			{apply: "two-flavours/box.json", by: flavours("sweet", "sour")},
		}},
	}
}

// flavours runs an operator of each flavour, and waits until all of them back off and say why.
func flavours(names ...string) func(s *scene) {
	return func(s *scene) {
		s.t.Helper()
		var users []*envtest.User
		for _, name := range names {
			users = append(users, s.operator(s.t, name))
			s.operate(s.t, users[len(users)-1], flavoursNamespace, "FLAVOR="+name)
		}
		s.await(haveWritten(users), backOff(users), message("another process", "field manager"), event("another process"))
	}
}

// haveWritten wants each user to have applied the ConfigMap.
func haveWritten(users []*envtest.User) want {
	return func(s *scene) error {
		for _, user := range users {
			if len(s.Calls(s.t, user).Writes().Of("configmaps")) == 0 {
				return fmt.Errorf("%s hasn't applied the ConfigMap yet", user.Name)
			}
		}
		return nil
	}
}

// backOff wants the users to write seldom. Events aren't counted: they have a limit of their own.
func backOff(users []*envtest.User) want {
	return func(s *scene) error {
		mark := s.Mark(s.t)
		time.Sleep(window)
		writes := s.CallsSince(s.t, mark, users...).Writes().Filter(func(call audit.Call) bool { return call.Resource != "events" })
		if len(writes) > few {
			return fmt.Errorf("%d writes in %s: %v", len(writes), window, writes.Count())
		}
		return nil
	}
}

// event wants an event about the resource with a text.
func event(text string) want {
	return func(s *scene) error {
		events, err := s.events()
		if err == nil && !slices.ContainsFunc(events, func(event string) bool { return strings.Contains(event, text) }) {
			err = fmt.Errorf("no event reports %q: %q", text, events)
		}
		return err
	}
}
