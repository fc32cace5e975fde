/*
 * The slot protocol (shm/slot_protocol.cpp and what uses it) with the ledger, for spin. README.md says what is checked, what is
 * more abstract here than in the code, and which -D turns off which rule.
 *
 * One step is one access to shared memory, unless a comment says why several may be one. Memory is sequentially
 * consistent; docs/ordering.md covers weaker orders.
 */

/* ---- Sizes (-D) ---- */
#ifndef SLOTS
#define SLOTS 2 /* 1 to 3 */
#endif
#ifndef GROUPS
#define GROUPS 1 /* 1 or 2 */
#endif
#ifndef CONSUMERS
#define CONSUMERS 2 /* 1 or 2, of all groups; consumer c works for group c % GROUPS */
#endif
#ifndef BATCHES
#define BATCHES 3
#endif
#ifndef MAX_ATTEMPTS
#define MAX_ATTEMPTS 1
#endif
#ifndef GENERATIONS
#define GENERATIONS 8 /* words hold the generation modulo this; in the code 256 */
#endif

/* How often something may happen, in the whole run. */
#ifndef CONSUMER_DEATHS
#define CONSUMER_DEATHS 0
#endif
#ifndef PRODUCER_DEATHS
#define PRODUCER_DEATHS 0
#endif
#ifndef LEAVES /* of consumers, in order */
#define LEAVES 0
#endif
#ifndef STOPS /* of the producer, with whatever is in flight */
#define STOPS 0
#endif
#ifndef DRAINS /* the producer finishes with batches left, as one does whose supervisor is gone */
#define DRAINS 0
#endif
#ifndef GIVE_BACKS /* that do not count the attempt */
#define GIVE_BACKS 0
#endif
#ifndef FAILURES /* exceptions in the processing: given back, attempt counted */
#define FAILURES 0
#endif
#ifndef CHANGES /* of the configured geometry; a starting producer sees it */
#define CHANGES 0
#endif
#ifndef LOSSES /* of the ring's names, under a living producer */
#define LOSSES 0
#endif
#ifndef ALREADY_DONE /* bit C(batch, group): rows of an earlier run */
#define ALREADY_DONE 0
#endif

/* ---- Rules turned off ---- */
#ifdef NO_NEXT_SEQ
#define NO_STORED_NEXT_SEQ
#define NO_SEQ_SCAN
#endif

#define PRODUCERS (1 + PRODUCER_DEATHS + STOPS)

/* ---- Words (shm/slot_words.hpp) ---- */
#define FREE 1
#define FILLING 2
#define READY 3
#define PENDING 1
#define LEASED 2
#define DONE 3

#define P_WORD(state, seq) ((state) << 13 | (seq))
#define G_WORD(state, attempts, owner, generation, seq) \
  ((state) << 13 | (attempts) << 11 | (owner) << 8 | (generation) << 5 | (seq))
#define STATE(word) ((word) >> 13)
#define ATTEMPTS(word) (((word) >> 11) & 3)
#define OWNER(word) (((word) >> 8) & 7)
#define GENERATION(word) (((word) >> 5) & 7)
#define SEQ(word) ((word) & 31)
#define DONE_WORD(seq) G_WORD(DONE, 0, 0, 0, seq)
#define PENDING_WORD(attempts, seq) G_WORD(PENDING, attempts, 0, 0, seq)

#define OPEN 1
#define FINISHED 2
#define RETIRED 3

/* ---- Shared memory ---- */
short p[SLOTS];
short g[SLOTS * GROUPS]; /* g[G(slot, group)] */
byte batch[SLOTS];       /* batch number in the slot's descriptor */
byte ring_state;
byte cursor;
byte next_seq;
byte producer_pid; /* of entry 0; 0 = left in order. Pids are 1, 2, ... */
byte generation[CONSUMERS + 1];

#define G(slot, group) ((slot) * GROUPS + (group))

/* ---- On disk ---- */
short ledger = ALREADY_DONE; /* bit C(batch, group): the group has a row for the batch's items */
bool complete;               /* the ledger says that the job is */

/* ---- The kernel's part ---- */
bool byte_held[CONSUMERS + 1]; /* lock byte of each participant; 0 is the producer's */
bool ring_there;               /* the names exist */
byte ring;                     /* counts the rings: one that was replaced lives on for who has it mapped */
byte geometry;
byte ending;         /* bit i: producer i was killed or left, its copies may go on */
byte ended;          /* bit i: its pidfd is readable: no copy of it runs any more */
byte copy_by[SLOTS]; /* the producer whose copy into the slot may be running; 0 = none */

/* ---- Processes, as those who kill and start them see them ---- */
bool up[CONSUMERS];       /* the process runs */
byte entry[CONSUMERS];    /* which byte it holds; 0 = none */
byte workers[GROUPS];     /* consumers that are up or will be started again */
bool producer_up;
byte producer;
bool producer_leaves; /* its listener publishes nothing any more */
bool draining;
byte configured_geometry;
byte consumer_deaths = CONSUMER_DEATHS, producer_deaths = PRODUCER_DEATHS, leaves = LEAVES, stops = STOPS,
     drains = DRAINS, give_backs = GIVE_BACKS, failures = FAILURES, changes = CHANGES, losses = LOSSES;

/* ---- What the properties are about; no process decides by it ---- */
bool at_end;              /* the source was, when the producer said FINISHED */
bool over;                /* the producer removed the ring as its last act */
short committed;          /* bit C(batch, group), in this ring */
byte ended_leases[BATCHES * GROUPS]; /* that ended by death or failure */
byte activity[CONSUMERS]; /* IDLE, AT_WORK, or AT_WORK + 1 + slot that it leases */

#define IDLE 0
#define AT_WORK 1 /* saw that the ring is in use, and may lease */

#define C(batch_number, group) ((batch_number) * GROUPS + (group))
#if GROUPS == 1
#define GROUP_HAS_ALL(group) (ledger == EVERYTHING)
#define ALL_WORDS_DONE(slot) (STATE(g[slot]) == DONE)
#else
/* Every second bit is a group's. */
#define GROUP_HAS_ALL(group) (((ledger >> (group)) & 1365 & EVERYTHING) == (1365 & EVERYTHING))
#define ALL_WORDS_DONE(slot) (STATE(g[G(slot, 0)]) == DONE && STATE(g[G(slot, 1)]) == DONE)
#endif
#define EVERYTHING ((1 << (BATCHES * GROUPS)) - 1)
#ifdef PLAN_LOOKS_AT_ONE_GROUP
#define BATCH_MASK 1
#else
#define BATCH_MASK ((1 << GROUPS) - 1)
#endif
/* Some group lacks the batch. BatchPlan, of the ledger as it was when the producer started. */
#define TO_DO(batch_number) (((plan >> ((batch_number) * GROUPS)) & BATCH_MASK) != BATCH_MASK)

/* ---- Conditions; ANY and ALL go over slots ---- */
#if SLOTS == 1
#define ANY(holds, x) (holds(0, x))
#define ALL(holds, x) (holds(0, x))
#elif SLOTS == 2
#define ANY(holds, x) (holds(0, x) || holds(1, x))
#define ALL(holds, x) (holds(0, x) && holds(1, x))
#else
#define ANY(holds, x) (holds(0, x) || holds(1, x) || holds(2, x))
#define ALL(holds, x) (holds(0, x) && holds(1, x) && holds(2, x))
#endif

/* may_lease(), with P and G as they were loaded */
#ifdef LEASE_DIFFERENT_SEQ
#define MAY_LEASE(word, ready) \
  ((STATE(word) != PENDING && SEQ(word) != SEQ(ready)) || (STATE(word) == PENDING && SEQ(word) == SEQ(ready)))
#else
#define MAY_LEASE(word, ready) \
  ((STATE(word) == DONE && SEQ(word) < SEQ(ready)) || (STATE(word) == PENDING && SEQ(word) == SEQ(ready)))
#endif
#define LEASABLE(slot, group) (STATE(p[slot]) == READY && MAY_LEASE(g[G(slot, group)], p[slot]))
#define DONE_BY(slot, group) (STATE(p[slot]) != READY || g[G(slot, group)] == DONE_WORD(SEQ(p[slot])))
#if GROUPS == 1
#define DONE_BY_ALL(slot, unused) DONE_BY(slot, 0)
#else
#define DONE_BY_ALL(slot, unused) (DONE_BY(slot, 0) && DONE_BY(slot, 1))
#endif
#ifdef CLAIM_LOOKS_AT_ONE_GROUP
#define CLAIMABLE(slot, unused) (STATE(p[slot]) == FREE || (STATE(p[slot]) == READY && DONE_BY(slot, 0)))
#else
#define CLAIMABLE(slot, unused) (STATE(p[slot]) == FREE || (STATE(p[slot]) == READY && DONE_BY_ALL(slot, 0)))
#endif
/* start_of(ring).next == BATCHES */
#define IS_LAST(slot, unused) (STATE(p[slot]) == READY && batch[slot] == BATCHES - 1)
#define SOURCE_AT_END (cursor == BATCHES || ANY(IS_LAST, 0))
#define IS_FILLING(slot, unused) (STATE(p[slot]) == FILLING)
#define IS_IN_FLIGHT(slot, unused) (IS_FILLING(slot, 0) && copy_by[slot] == producer)
#define IS_DEAD(word) (STATE(word) == LEASED && \
  (generation[OWNER(word)] != GENERATION(word) || !byte_held[OWNER(word)]))
/* A ring that was replaced was retired before. */
#define STATE_OF(mapped) (mapped == ring -> ring_state : RETIRED)
#define HAS_ENDED(process) ((process) == 0 || (ended >> (process)) & 1)
/* is_settled(): each group that a living consumer works for has what is published. */
#if CONSUMERS == 1
#define NOBODY_IS_THERE (!byte_held[1])
#define IS_SETTLED (entry[0] == 0 || ALL(DONE_BY, 0))
#else
#define NOBODY_IS_THERE (!byte_held[1] && !byte_held[2])
#define IS_SETTLED ((entry[0] == 0 || ALL(DONE_BY, 0)) && (entry[1] == 0 || ALL(DONE_BY, 1 % GROUPS)))
#endif

inline count_ended_lease(slot, group) { ended_leases[C(batch[slot], group)]++ }

/* ---- Consumer ---- */

/* Participant::join: the first byte that is free. That of a ring that was replaced meanwhile is nobody's concern. */
inline take_byte() {
  if
  :: mapped == ring ->
     me = 1;
     do
     :: byte_held[me] -> me++
     :: else -> break
     od;
     byte_held[me] = true;
     entry[self] = me
  :: else -> me = 0
  fi
}

inline release_byte() {
  if
  :: entry[self] != 0 -> byte_held[entry[self]] = false
  :: else
  fi;
  activity[self] = IDLE;
  entry[self] = 0;
  me = 0
}

/* SlotProtocol::reclaim_entry for one word. Load and CAS are one step: nobody else makes this entry's leases. */
inline sweep_word(w) {
  if
  :: mapped == ring && STATE(g[w]) == LEASED && OWNER(g[w]) == me -> g[w] = PENDING_WORD(ATTEMPTS(g[w]), SEQ(g[w]))
  :: else
  fi
}

inline raise_generation() {
  if
  :: mapped == ring -> generation[me] = (generation[me] + 1) % GENERATIONS
  :: else
  fi
}

inline load_producer_word(s) {
  slot = s;
  ready = p[s]
}

/* The CAS of SlotProtocol::try_lease. */
inline lease() {
  assert(STATE(word) != LEASED); /* nobody's lease is taken */
  assert(p[slot] == ready); /* a slot that moved on is not leased */
  assert(!((committed >> C(batch[slot], group)) & 1)); /* nor is a batch that was committed in this ring */
  attempts = (SEQ(word) == SEQ(ready) -> ATTEMPTS(word) : 0);
  attempts = (attempts < 3 -> attempts + 1 : 3);
#ifdef ATTEMPT_COUNTED_LATER
  word = G_WORD(LEASED, attempts - 1, me, generation[me], SEQ(ready));
#else
  word = G_WORD(LEASED, attempts, me, generation[me], SEQ(ready));
  assert(attempts == 3 || attempts == ended_leases[C(batch[slot], group)] + 1); /* each death is counted */
  assert(attempts <= MAX_ATTEMPTS || ended_leases[C(batch[slot], group)] >= MAX_ATTEMPTS); /* quarantine */
#endif
  activity[self] = AT_WORK + 1 + slot;
  g[G(slot, group)] = word
}

/* Lease::commit, Lease::give_back. Its CAS cannot fail: nobody takes the lease of a living process. */
inline end_lease(with) {
  assert(g[G(slot, group)] == word);
  assert(p[slot] == ready); /* not overwritten while leased */
  activity[self] = AT_WORK;
  g[G(slot, group)] = with;
  word = 0;
  ready = 0;
  slot = 0
}

/* GroupLedger::finished, right before the work. What it finds missing stays so: the lease is the group's only one. */
inline look_up() {
#ifdef NO_LOOKUP
  known = false;
#else
  known = (ledger >> C(batch[slot], group)) & 1;
#endif
  assert(known || !((ledger >> C(batch[slot], group)) & 1)) /* no work is done again */
}

inline write_row() { ledger = ledger | (1 << C(batch[slot], group)) }

inline commit() {
  assert(!((committed >> C(batch[slot], group)) & 1));
  committed = committed | (1 << C(batch[slot], group));
  end_lease(DONE_WORD(SEQ(word)))
}

inline forget() {
  known = false;
  word = 0;
  ready = 0;
  slot = 0;
  attempts = 0;
  scanned = 0
}

proctype Consumer(byte self) {
  byte group = self % GROUPS;
  byte mapped = 1, me = self + 1, state = OPEN; /* the run begins with everybody attached */
  byte slot, scanned, attempts;
  short ready, word;
  bool held, rightly, known;

  goto look;
end_attach: /* attach_ring, until it answers "ready"; or the ledger says that there is nothing to come */
  {
    if
    :: complete -> goto gone
    :: atomic { ring_there && ring_state != RETIRED -> mapped = ring; state = ring_state }
    fi;
#ifdef STATE_BEFORE_BYTE
    activity[self] = AT_WORK;
#endif
    atomic { take_byte() };
    if
    :: me == 0 -> goto end_attach /* its state reads as retired */
    :: else
    fi;
#ifdef GENERATION_BEFORE_SWEEP
    atomic { raise_generation() };
#endif
#ifndef NO_SWEEP
    do /* Participant::Participant */
    :: scanned < SLOTS * GROUPS -> atomic { sweep_word(scanned); scanned++ }
    :: else -> break
    od;
    scanned = 0;
#endif
#ifndef GENERATION_BEFORE_SWEEP
    atomic { raise_generation() };
#endif
#ifdef STATE_BEFORE_BYTE
    goto scan;
#endif

look: /* ReadyQueue::try_lease: the state first */
    atomic {
      forget();
      state = STATE_OF(mapped);
      if
      :: state != RETIRED -> activity[self] = AT_WORK
      :: else
      fi
    };
    if
    :: state == RETIRED -> atomic { release_byte(); state = 0; mapped = 0 }; goto end_attach
    :: else
    fi;

scan: /* Any slot, where the code takes the oldest. Loading a P whose G is not leasable leads nowhere: it stays so
         for that P, or the same P can be loaded later. Without such loads a consumer with nothing to do blocks
         instead of spinning, and spin sees when everybody is stuck. */
    if
    :: atomic { mapped == ring && LEASABLE(0, group) -> load_producer_word(0) }
#if SLOTS > 1
    :: atomic { mapped == ring && LEASABLE(1, group) -> load_producer_word(1) }
#endif
#if SLOTS > 2
    :: atomic { mapped == ring && LEASABLE(2, group) -> load_producer_word(2) }
#endif
    :: atomic { STATE_OF(mapped) != state -> skip }; goto look
#ifdef WORDS_BEFORE_STATE
    :: ALL(DONE_BY, group) -> goto finished
#else
    :: state == FINISHED && ALL(DONE_BY, group) -> goto finished
#endif
    :: atomic { leaves > 0 -> leaves--; release_byte(); up[self] = false }
    fi;
    atomic {
      word = g[G(slot, group)];
      if
      :: !MAY_LEASE(word, ready) -> goto look
      :: else
      fi
    };
    atomic {
      if
      :: g[G(slot, group)] != word -> goto look
      :: else -> lease()
      fi
    };
#ifdef ATTEMPT_COUNTED_LATER
    atomic {
      assert(attempts == 3 || attempts == ended_leases[C(batch[slot], group)] + 1);
      word = G_WORD(LEASED, attempts, me, generation[me], SEQ(ready));
      g[G(slot, group)] = word
    };
#endif

    /* BatchWorker::process */
    atomic {
      look_up();
      if
      :: known -> known = false; goto done_before
      :: else
      fi
    };
    if /* the sink's files are durable; row, then commit */
#ifdef LEDGER_AFTER_COMMIT
    :: atomic { held = batch[slot]; commit() }; atomic { ledger = ledger | (1 << C(held, group)); held = 0 }
#else
    :: atomic { write_row() };
done_before:
       atomic { commit() }
#endif
    :: atomic { give_backs > 0 -> give_backs--; end_lease(PENDING_WORD(ATTEMPTS(word) - 1, SEQ(word))) }
    :: atomic {
         failures > 0 -> failures--;
         count_ended_lease(slot, group);
         end_lease(PENDING_WORD(ATTEMPTS(word), SEQ(word)))
       }
    fi;
#ifdef LEDGER_AFTER_COMMIT
    goto look;
done_before:
    atomic { commit() };
#endif
    goto look;

finished: /* confirm_finished: whose FINISHED is it? Then the state, and the words last. */
#ifdef FINISHED_READ_ONCE
    if
    :: STATE_OF(mapped) != FINISHED -> goto look
    :: else
    fi;
#endif
    atomic { held = byte_held[0]; rightly = (held && draining) || at_end };
    if
    :: held || SOURCE_AT_END
    :: else -> /* wait for a successor, or until the names are gone */
       if
       :: atomic { !ring_there -> release_byte(); mapped = 0; state = 0; held = false }; goto end_attach
       :: byte_held[0] || STATE_OF(mapped) != FINISHED -> goto look
       fi
    fi;
#ifndef FINISHED_READ_ONCE
    atomic {
      rightly = rightly || draining || at_end;
      if
      :: STATE_OF(mapped) != FINISHED -> goto look
      :: else
      fi
    };
#endif
    atomic { /* SlotProtocol::group_is_done: one step, since what is done stays so while the state is FINISHED */
#ifndef WORDS_BEFORE_STATE
      if
      :: !ALL(DONE_BY, group) -> goto look
      :: else
      fi;
#endif
      assert(rightly);
      assert(!SOURCE_AT_END || GROUP_HAS_ALL(group));
      release_byte();
      mapped = 0;
      state = 0;
      held = false;
      rightly = false;
      if
      :: SOURCE_AT_END -> goto end_idle
      :: else -> up[self] = false /* drained; somebody may start the pipeline again */
      fi
    };
    false;

end_idle: /* has everything: a service waits, `tailrace run` starts it again; if another ring goes on */
    ring_there && !complete && (ring_state == OPEN || (ring_state == FINISHED && !ALL(DONE_BY, group)));
    goto end_attach
  } unless {
    atomic { !up[self] -> forget(); mapped = 0; me = 0; state = 0; held = false; rightly = false }
  };
  if
  :: atomic { up[self] = true; goto end_attach }
  :: atomic { workers[group] > 1 -> workers[group]--; goto gone } /* others are left, this one is not started again */
  fi;
gone:
  skip
}

/* ---- Producer ---- */

#define OLDER(slot, than) (SEQ(p[slot]) < SEQ(p[than]))

/* SlotProtocol::find_claimable in one step: what is claimable stays so until this thread claims it. */
inline find_claimable() {
  slot = SLOTS;
  for (i : 0 .. SLOTS - 1) {
    if
    :: slot < SLOTS && STATE(p[slot]) == FREE
    :: else ->
       if
       :: CLAIMABLE(i, 0) && (slot == SLOTS || STATE(p[i]) == FREE || OLDER(i, slot)) -> slot = i
       :: else
       fi
    fi
  }
  i = 0
}

inline skip_what_is_done() {
  do
  :: next < BATCHES && !TO_DO(next) -> next++
  :: else -> break
  od
}

/* start_of. One step: only who holds the role writes P, cursor and next_seq. G is never of a newer seq than P. */
inline find_start() {
  next = 0;
  seq = 1;
#ifndef NO_STORED_CURSOR
  next = cursor;
#endif
#ifndef NO_STORED_NEXT_SEQ
  seq = next_seq;
#endif
  for (i : 0 .. SLOTS - 1) {
    if
#ifndef NO_READY_DESCRIPTORS
    :: STATE(p[i]) == READY && batch[i] + 1 > next -> next = batch[i] + 1
#endif
    :: else
    fi;
    if
#ifndef NO_SEQ_SCAN
    :: SEQ(p[i]) + 1 > seq -> seq = SEQ(p[i]) + 1
#endif
    :: else
    fi
  }
  i = 0
}

/* RingOwner::create: words, header, rename in one step; what a death in between leaves behind is the subject of
   tests/shm/creation_crash_test.cpp. */
inline create_ring() {
#ifdef CURSOR_IS_CARRIED
  next = cursor;
#else
  next = 0;
#endif
  ring++;
  ring_there = true;
  ring_state = OPEN;
  at_end = false;
  geometry = configured_geometry;
  cursor = next;
  committed = 0;
  next_seq = 1;
  seq = 1;
  for (i : 0 .. SLOTS - 1) {
    p[i] = P_WORD(FREE, 0);
    batch[i] = 0;
    copy_by[i] = 0
  }
  for (i : 0 .. SLOTS * GROUPS - 1) { g[i] = DONE_WORD(0) }
  for (i : 0 .. BATCHES * GROUPS - 1) { ended_leases[i] = 0 }
  for (i : 1 .. CONSUMERS) {
    generation[i] = 0;
    byte_held[i] = false;
    assert(activity[i - 1] == IDLE); /* nobody is at work in a ring that is replaced */
    entry[i - 1] = 0 /* who took a byte after nobody was there holds one of the old ring */
  }
  i = 0;
  producer_pid = 0
}

inline join_as_producer() { byte_held[0] = true; producer_pid = producer }

inline enqueue_copy() {
  assert(!copy_by[slot]); /* nobody else's copy may still be running into this slot */
  batch[slot] = next;
  copy_by[slot] = producer;
  next++;
  skip_what_is_done();
  slot = 0
}

inline end_producer() {
  byte_held[0] = false;
  draining = false;
  ending = ending | (1 << producer);
  producer_up = false
}

/* Holding the role is the same as being this process: a second producer is refused before it reads anything. */
proctype Producer() {
  byte next, seq = 1, slot, i;
  short plan = ALREADY_DONE;

  atomic { skip_what_is_done(); goto publish };
start:
  {
    if
    :: complete -> goto remove
    :: else -> atomic { plan = ledger } /* JobLedger::finished, before anything else */
    fi;
    if
    :: atomic { !ring_there -> create_ring() }; goto join
    :: ring_there && (ring_state == RETIRED || geometry != configured_geometry) -> goto replace
    :: else
    fi;

    /* RingOwner::take_over */
#ifdef ENTRY_BEFORE_PROOF
    atomic { i = producer_pid; join_as_producer() };
    atomic { HAS_ENDED(i) -> i = 0 };
#else
#ifndef NO_PROOF_OF_DEATH
    HAS_ENDED(producer_pid); /* outlive_predecessor */
#endif
#endif
    do /* SlotProtocol::recycle_filling */
    :: i < SLOTS ->
       atomic {
         if
         :: STATE(p[i]) == FILLING -> p[i] = P_WORD(FREE, SEQ(p[i]))
         :: else
         fi;
         i++
       }
    :: else -> break
    od;
    atomic { i = 0; find_start(); skip_what_is_done() };
#ifdef BYTE_BEFORE_OPEN
    atomic { join_as_producer() };
#endif
    if
    :: atomic { ring_state == FINISHED && next < BATCHES -> ring_state = OPEN; at_end = false }
    :: else
    fi;
#ifndef BYTE_BEFORE_OPEN
    goto join;
#else
    goto publish;
#endif

replace: /* RingOwner::replace */
#ifndef RETIRE_UNFINISHED
    ring_state == RETIRED || IS_SETTLED;
#endif
#ifdef CURSOR_IS_CARRIED
    atomic { find_start(); cursor = next };
#endif
    ring_state = RETIRED;
#ifndef RETIRE_OCCUPIED
    NOBODY_IS_THERE;
#endif
    ring_there = false; /* RingOwner::create unlinks first */
    atomic { create_ring() };

join:
    atomic { join_as_producer(); skip_what_is_done() };

publish: /* RingJob::publish_all; the listener works beside it */
    do
    :: atomic { next < BATCHES && ANY(CLAIMABLE, 0) -> find_claimable() };
#ifdef CURSOR_AFTER_CLAIM
       atomic {
         i = (STATE(p[slot]) == READY && cursor < batch[slot] + 1 -> batch[slot] + 1 : cursor);
         p[slot] = P_WORD(FILLING, seq)
       };
       atomic { cursor = i; i = 0 };
       atomic { seq++; next_seq = seq };
#else
       if /* FreeQueue::try_claim */
       :: atomic { STATE(p[slot]) == READY && cursor < batch[slot] + 1 -> cursor = batch[slot] + 1 }
       :: else
       fi;
       atomic { seq++; next_seq = seq };
       atomic {
         assert(ALL_WORDS_DONE(slot) && DONE_BY_ALL(slot, 0)); /* nobody reads it, and nobody is to */
         p[slot] = P_WORD(FILLING, seq - 1)
       };
#endif
       atomic { enqueue_copy() }
    :: next == BATCHES && !ANY(IS_FILLING, 0) -> break
    :: !ring_there && !ANY(IS_FILLING, 0) -> goto lost
    :: atomic { drains > 0 && next < BATCHES && !ANY(IS_FILLING, 0) -> drains--; draining = true }; break
    :: atomic { stops > 0 -> stops--; goto stop }
    od;
#ifndef FINISHED_BEFORE_CURSOR
    if
    :: draining
    :: else -> cursor = BATCHES
    fi; /* RingOwner::set_source_at_end */
#endif
    atomic { ring_state = FINISHED; at_end = !draining };
#ifdef FINISHED_BEFORE_CURSOR
    if
    :: draining
    :: else -> cursor = BATCHES
    fi;
#endif
    if /* RingJob::wait_for_consumers */
    :: ALL(DONE_BY_ALL, 0)
    :: !ring_there -> goto lost
    fi;
    if
    :: atomic { draining -> ring_there = false; over = true; goto finished }
    :: atomic { else -> assert(ledger == EVERYTHING); complete = true } /* JobLedger::mark_complete */
    fi;
remove: /* ProducerRole::remove_files */
    atomic { ring_there = false; over = true; goto finished };

lost: /* RingJob::leave_lost_ring: RingOwner::retire, and the end of this RingJob */
#ifndef RETIRE_UNFINISHED
    IS_SETTLED;
#endif
    ring_state = RETIRED;
#ifndef RETIRE_OCCUPIED
    NOBODY_IS_THERE;
#endif
    atomic { byte_held[0] = false; producer_pid = 0; goto start };

stop: /* ~RingJob, or the way out after an error of the device: slots may be FILLING, and no one publishes them */
    atomic { producer_leaves = true };
    atomic {
#ifndef PID_ALWAYS_CLEARED
      if
      :: ANY(IS_FILLING, 0)
      :: else -> producer_pid = 0 /* ~Participant */
      fi;
#else
      producer_pid = 0;
#endif
      end_producer()
    };
    false
  } unless {
    atomic { !producer_up -> next = 0; seq = 0; slot = 0; i = 0; plan = 0 }
  };
  atomic { producer++; producer_up = true; producer_leaves = false };
  if
  :: atomic { changes > 0 -> changes--; configured_geometry = 1 - configured_geometry }
  :: true
  fi;
  goto start;
finished:
  skip
}

/* The copies end in order, and Listener::publish follows. One step: a copy that has ended but is not published
   looks, to a successor, as one that runs and ends. */
proctype Listener() {
  byte slot, i;
end_listener:
  do
  :: atomic {
       producer_up && !producer_leaves && ANY(IS_IN_FLIGHT, 0) ->
       slot = SLOTS;
       for (i : 0 .. SLOTS - 1) {
         if
#ifdef PUBLISH_IN_ANY_ORDER
         :: IS_IN_FLIGHT(i, 0) -> slot = i
         :: IS_IN_FLIGHT(i, 0) && slot != SLOTS
#else
         :: IS_IN_FLIGHT(i, 0) && (slot == SLOTS || OLDER(i, slot)) -> slot = i
#endif
         :: else
         fi
       }
       copy_by[slot] = 0;
       p[slot] = P_WORD(READY, SEQ(p[slot]));
       slot = 0;
       i = 0
     }
  od
}

/* ---- Janitor: of any participant, at any time; one for each word ---- */

/* It begins where the word is one that it would reclaim: those that it leaves alone change nothing. Its own death
   changes nothing either. */
proctype Janitor(byte w) {
  short word;
  byte now, mapped;
  bool dead;
end_janitor:
  do
#ifdef LOCK_BEFORE_WORD
  :: atomic { STATE(g[w]) == LEASED && IS_DEAD(g[w]) -> now = OWNER(g[w]); mapped = ring };
     dead = generation[now] == 0 || !byte_held[now];
     word = g[w];
     dead = dead && STATE(word) == LEASED && OWNER(word) == now;
#else
  :: atomic { STATE(g[w]) == LEASED && IS_DEAD(g[w]) -> word = g[w]; mapped = ring };
#ifdef LOCK_BEFORE_GENERATION
     dead = !byte_held[OWNER(word)];
     dead = dead || generation[OWNER(word)] != GENERATION(word);
#else
     now = generation[OWNER(word)];
     dead = now != GENERATION(word) || !byte_held[OWNER(word)];
#endif
#endif
     d_step {
       if
       :: dead && g[w] == word && mapped == ring -> g[w] = PENDING_WORD(ATTEMPTS(word), SEQ(word))
       :: else
       fi;
       word = 0;
       now = 0;
       dead = false;
       mapped = 0
     }
  od
}

/* ---- SIGKILL at any step, and the kernel ---- */

proctype ConsumerKiller(byte c) {
end_killer:
  do
  :: d_step {
       consumer_deaths > 0 && up[c] && entry[c] != 0 && !over ->
       consumer_deaths--;
       if
       :: activity[c] > AT_WORK -> count_ended_lease(activity[c] - AT_WORK - 1, c % GROUPS)
       :: else
       fi;
       activity[c] = IDLE;
       byte_held[entry[c]] = false;
       entry[c] = 0;
       up[c] = false
     }
  od
}

proctype ProducerKiller() {
end_killer:
  do
  :: d_step { producer_deaths > 0 && producer_up && !over -> producer_deaths--; end_producer() }
  od
}

/* logind's RemoveIPC, or somebody's rm. */
proctype Remover() {
end_remover:
  do
  :: d_step { losses > 0 && producer_up && ring_there && byte_held[0] && !complete -> losses--; ring_there = false }
  od
}

/* The lock byte of a dead process comes free before its last copy ends; its pidfd tells. */
proctype Copies() {
  byte i, process;
end_copies:
  do
  :: atomic {
       ending != 0 ->
       process = 1;
       do /* any of them */
       :: (ending >> (process + 1)) -> process++
       :: (ending >> process) & 1 -> break
       od;
       ending = ending & ~(1 << process);
       ended = ended | (1 << process);
       for (i : 0 .. SLOTS - 1) {
         if
         :: copy_by[i] == process -> copy_by[i] = 0
         :: else
         fi
       }
       i = 0;
       process = 0
     }
  od
}

init {
  byte i, next, seq;
  atomic {
    producer = 1;
    create_ring();
    join_as_producer();
    producer_up = true;
    for (i : 0 .. CONSUMERS - 1) {
      up[i] = true;
      entry[i] = i + 1;
      byte_held[i + 1] = true;
      generation[i + 1] = 1;
      workers[i % GROUPS]++;
      run Consumer(i);
      if
      :: CONSUMER_DEATHS > 0 -> run ConsumerKiller(i)
      :: else
      fi
    }
#ifndef NO_JANITOR
    for (i : 0 .. SLOTS * GROUPS - 1) { run Janitor(i) }
#endif
    run Producer();
    run Listener();
    if
    :: PRODUCER_DEATHS > 0 -> run ProducerKiller()
    :: else
    fi;
    if
    :: PRODUCERS > 1 -> run Copies()
    :: else
    fi;
    if
    :: LOSSES > 0 -> run Remover()
    :: else
    fi;
    i = 0;
    seq = 0
  }
}

#ifdef PROGRESS
ltl job_ends { <> over }
#endif
