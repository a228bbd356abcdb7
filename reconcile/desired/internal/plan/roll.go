package plan

import (
	"maps"
	"slices"
)

// roll returns what is done with the children of a group that are updated one after the other. members are their
// places.
//
// Outdated children that aren't healthy come first and wait for nothing, since their update takes nothing away: so a
// new version can mend what the one before has broken, also if none of them is healthy before all are updated. A
// healthy child is updated only if all others exist and are healthy.
func roll(wanted []Wanted, members []int) (actions []Action) {
	turn, holdup := -1, -1
	var outdated []int
	for _, i := range members {
		child := wanted[i]
		switch {
		case child.State == Outdated:
			outdated = append(outdated, i)
			if turn < 0 || wanted[turn].Healthy && !child.Healthy {
				turn = i
			}
		case holdup < 0 && !(child.State == Current && child.Healthy):
			holdup = i
		}
		if child.State == Terminating {
			actions = append(actions, Action{Wait, i, i})
		}
	}
	for _, i := range outdated {
		switch {
		case holdup >= 0 && wanted[turn].Healthy:
			actions = append(actions, Action{Wait, i, holdup})
		case i == turn:
			actions = append(actions, change(wanted[i], i))
		default:
			actions = append(actions, Action{Wait, i, turn})
		}
	}
	return actions
}

// inOrder returns the members of the groups, in the order of the numbers of the groups.
func inOrder(groups map[int][]int) (all [][]int) {
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		all = append(all, groups[group])
	}
	return all
}
