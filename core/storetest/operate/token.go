package operate

import (
	"crypto/rand"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func tokenScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "CreateToken/what is kept comes back as it is", Run: tokenKept},
		{Name: "CreateToken/one of many with the same id is kept", Run: tokenTaken},
		{Name: "FindTokens/an expired token is found, an unknown id is not", Run: tokenFound},
		{Name: "FindTokens/finds many at once, each once, between unknown ids", Run: tokensFound},
		{Name: "ListTokens/pages by id miss nothing and repeat nothing", Run: tokenPages},
		{Name: "RevokeToken/it is gone at once, for every handle, and once only", Run: tokenRevoked},
	}
}

// newToken returns a valid token.
func newToken(s *storetest.Stage, role core.Role, tenant string) core.Token {
	s.Helper()
	_, id, hash, err := core.NewToken(rand.Reader)
	s.Must(err)
	return core.Token{ID: id, Name: "n", Hash: hash, Role: role, Tenant: tenant}
}

func createToken(s *storetest.Stage, t core.Token) core.Token {
	s.Helper()
	kept, err := s.Store.CreateToken(s.Ctx, t)
	s.Must(err)
	return kept
}

// findToken looks up one token.
func findToken(s *storetest.Stage, id string) (core.Token, error) {
	s.Helper()
	tokens, err := s.Store.FindTokens(s.Ctx, []string{id})
	switch {
	case err != nil:
		return core.Token{}, err
	case len(tokens) == 0:
		return core.Token{}, core.ErrNotFound
	case len(tokens) > 1:
		s.Errorf("%d tokens of one id", len(tokens))
	}
	return tokens[0], nil
}

func tokenKept(s *storetest.Stage) {
	before := s.Now()
	for _, t := range []core.Token{
		newToken(s, core.RoleAdmin, ""), newToken(s, core.RoleSubmit, "Müller & Söhne"), newToken(s, core.RoleRead, "'; DROP TABLE tokens; --"),
	} {
		t.Name = strings.Repeat("ü", core.MaxTokenNameBytes/2)
		if t.Role == core.RoleRead {
			t.ExpiresAt = before.Add(time.Hour)
			t.Hash = [32]byte{} // zero bytes are valid
		}
		kept := createToken(s, t)
		if kept.CreatedAt.Before(before.Truncate(time.Microsecond)) || kept.CreatedAt.After(s.Now()) {
			s.Errorf("created at %s", kept.CreatedAt)
		}
		t.CreatedAt = kept.CreatedAt
		found, err := findToken(s.Second(), t.ID)
		s.Must(err)
		if !reflect.DeepEqual(kept, t) || !reflect.DeepEqual(found, t) {
			s.Errorf("kept\n%+v, found\n%+v, want\n%+v", kept, found, t)
		}
	}
}

func tokenTaken(s *storetest.Stage) {
	token := newToken(s, core.RoleRead, "")
	var kept atomic.Int32
	s.Times(8, func(i int) error {
		mine := token
		mine.Hash[0] = byte(i)
		_, err := s.Store.CreateToken(s.Ctx, mine)
		if err == nil {
			kept.Add(1)
		} else if errors.Is(err, core.ErrConflict) {
			err = nil
		}
		return err
	})
	if kept.Load() != 1 {
		s.Errorf("%d of 8 were kept", kept.Load())
	}
}

func tokenFound(s *storetest.Stage) {
	token := newToken(s, core.RoleSubmit, "a")
	token.ExpiresAt = s.Now().Add(time.Minute)
	createToken(s, token)
	s.Advance(time.Hour)
	if found, err := findToken(s, token.ID); err != nil || found.ID != token.ID || !found.Expired(s.Now()) {
		s.Errorf("expired: %+v, %v", found, err)
	}
	for _, id := range []string{"", "nobody", token.ID[1:], strings.ToUpper(token.ID) + "x", "%", token.ID + "'"} {
		if found, err := findToken(s, id); !errors.Is(err, core.ErrNotFound) || found.ID != "" {
			s.Errorf("%q: %+v, %v", id, found, err)
		}
	}
}

func tokensFound(s *storetest.Stage) {
	want := map[string]core.Token{}
	ids := []string{"", "nobody", "%", "'; DROP TABLE tokens; --"}
	for i := range 300 {
		token := createToken(s, newToken(s, core.RoleRead, strconv.Itoa(i)))
		if i%3 > 0 {
			want[token.ID] = token
			ids = append(ids, token.ID, "x"+token.ID[1:], token.ID)
		}
	}
	tokens, err := s.Second().Store.FindTokens(s.Ctx, ids)
	s.Must(err)
	for _, t := range tokens {
		if !reflect.DeepEqual(t, want[t.ID]) {
			s.Errorf("found\n%+v, want, once,\n%+v", t, want[t.ID])
		}
		delete(want, t.ID)
	}
	if len(want) > 0 {
		s.Errorf("%d are not found", len(want))
	}
	if tokens, err := s.Store.FindTokens(s.Ctx, nil); err != nil || len(tokens) != 0 {
		s.Errorf("of no ids: %v, %v", tokens, err)
	}
}

func tokenPages(s *storetest.Stage) {
	if tokens, err := s.Store.ListTokens(s.Ctx, "", 10); err != nil || len(tokens) != 0 {
		s.Errorf("an empty store has %d tokens, %v", len(tokens), err)
	}
	var want []string
	for range 23 {
		want = append(want, createToken(s, newToken(s, core.RoleRead, "")).ID)
	}
	slices.Sort(want)
	var got []string
	for after := ""; ; {
		page, err := s.Store.ListTokens(s.Ctx, after, 5)
		s.Must(err)
		for _, t := range page {
			got = append(got, t.ID)
		}
		if len(page) < 5 {
			break
		}
		after = page[4].ID
	}
	if !slices.Equal(got, want) {
		s.Errorf("pages have\n%v, want\n%v", got, want)
	}
}

func tokenRevoked(s *storetest.Stage) {
	gone, stays := createToken(s, newToken(s, core.RoleAdmin, "")), createToken(s, newToken(s, core.RoleRead, ""))
	var revoked atomic.Int32
	s.Times(8, func(int) error {
		err := s.Store.RevokeToken(s.Ctx, gone.ID)
		if err == nil {
			revoked.Add(1)
		} else if errors.Is(err, core.ErrNotFound) {
			err = nil
		}
		return err
	})
	if revoked.Load() != 1 {
		s.Errorf("%d of 8 revoked it", revoked.Load())
	}
	other := s.Second()
	if _, err := findToken(other, gone.ID); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("a revoked token is found: %v", err)
	}
	if _, err := findToken(other, stays.ID); err != nil {
		s.Errorf("the other token: %v", err)
	}
	if err := other.Store.RevokeToken(s.Ctx, "nobody"); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("an unknown id: %v", err)
	}
}
